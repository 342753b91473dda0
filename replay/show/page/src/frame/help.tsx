// Help: all keys.

import { useEffect, useRef } from "preact/hooks";

const KEYS: [string, string][] = [
  ["1 – 9", "views"], ["/", "search"], ["u", "unit"], ["m", "metrics"], ["p", "selection on and off"], ["[ and ]", "previous and next wait"],
  ["arrows, Home, End, Page keys", "move in trees, tables and pictures; in trees → opens, ← closes, and * opens all"],
  ["W S A D, + −", "zoom and go on in Time and the time strip"], ["F", "fits the selected wait, in Time"], ["C", "critical path, in Time"],
  ["mouse", "drag selects time, the wheel with Ctrl zooms, a double click fits"],
  ["Enter or Space", "opens and closes a node"], ["Esc", "closes help, then the selection"], ["?", "this help"],
];

export function Help(props: { close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="help" aria-label="Keys" onClose={props.close}>
      <h2>Keys</h2>
      <table>
        <tbody>{KEYS.map(([key, what]) => <tr key={key}><th scope="row"><kbd>{key}</kbd></th><td>{what}</td></tr>)}</tbody>
      </table>
      <p>The address has the view, the selection and the zoom: reload it, go back, or send it with the file.</p>
      <button type="button" onClick={() => dialog.current?.close()}>close</button>
    </dialog>
  );
}
