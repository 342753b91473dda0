// The page of replay-show. Without this script it is its first screen; with it, all views.

import { render } from "preact";

import { load } from "./data/load.js";
import { Frame } from "./frame/frame.js";
import { Store } from "./state/store.js";
import "./styles/theme.css";
import "./styles/base.css";
import "./styles/frame.css";
import "./styles/views.css";

async function start(): Promise<void> {
  const root = document.createElement("div");
  root.id = "page";
  const store = new Store();
  let version = 0;
  const draw = () => render(<Frame data={data} store={store} version={version} />, root);
  const data = await load(() => {
    version++;
    draw();
  });
  document.body.prepend(root);
  document.documentElement.classList.add("with-script");
  draw();
}

start().catch((error: unknown) => {
  // The first screen is there all the same.
  const words = document.createElement("p");
  words.className = "limit";
  words.textContent = `Only the first screen can be shown: ${String(error)}`;
  document.body.prepend(words);
});
