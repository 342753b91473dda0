// Store: the state of the page, in step with the address. Going back in the browser goes back in the page.

import { format, parse, type State } from "./state.js";

type Listener = () => void;

export class Store {
  state: State = parse(location.hash);
  private readonly listeners = new Set<Listener>();
  private pending = 0;

  constructor() {
    const read = () => {
      if (format(this.state) === format(parse(location.hash))) return;
      this.state = parse(location.hash);
      this.tell();
    };
    window.addEventListener("hashchange", read);
    window.addEventListener("popstate", read);
  }

  /** Changes the state. What moves often, such as a zoom, makes one entry of the browser's history. */
  change(more: Partial<State>, isMoving = false): void {
    this.state = { ...this.state, ...more };
    const write = () => {
      const hash = format(this.state);
      if (hash !== location.hash && !(hash === "#" && location.hash === "")) {
        history[isMoving ? "replaceState" : "pushState"](null, "", hash);
      }
    };
    clearTimeout(this.pending);
    // Browsers refuse many changes in a short time.
    if (isMoving) this.pending = window.setTimeout(write, 150);
    else write();
    this.tell();
  }

  tell(): void {
    for (const listener of this.listeners) listener();
  }

  subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
