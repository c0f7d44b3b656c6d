// One of several words, in a list that opens.
import { h } from "./jsx";

export function Choice<Word extends string | number>(props: {
  called: string;
  chosen: Word;
  words: readonly (readonly [Word, string])[];
  take: (word: Word) => void;
  keyName?: string;
  id?: string;
  quiet?: boolean; // the label is only read aloud
}) {
  return (
    <label class="field">
      <span class={props.quiet && "away"}>{props.called}</span>
      <select
        id={props.id}
        value={props.chosen}
        title={props.keyName && `Key: ${props.keyName}`}
        onchange={({ currentTarget: select }) => {
          const [word] = props.words[select.selectedIndex]!;
          select.value = `${props.chosen}`; // until whoever takes the word says otherwise
          props.take(word);
        }}
      >
        {props.words.map(([word, text]) => (
          <option key={word} value={word}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
