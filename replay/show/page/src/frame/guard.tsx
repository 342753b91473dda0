// Guard: a view that fails says so, and leaves the others.

import { Component, type ComponentChildren } from "preact";

export class Guard extends Component<{ children: ComponentChildren }, { error: string | null }> {
  override state: { error: string | null } = { error: null };

  static override getDerivedStateFromError(error: unknown): { error: string } {
    return { error: String(error) };
  }

  override render() {
    if (this.state.error !== null) return <p class="limit">This view cannot be shown: {this.state.error}</p>;
    return this.props.children;
  }
}
