/** Leave for further calls of the session, made from this call's own arguments: each value a line that can be let go. */
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react';
import type { Condition } from '../../event/definition.ts';
import type { Grant } from '../../event/events.ts';
import type { QuestionCard } from '../../server/inbox-shapes.ts';
import { formatDuration } from '../../view/format.ts';
import { conditionWords } from '../../view/terms.ts';
import { Revealed } from '../parts/text.tsx';

const HOUR_MS: number = 60 * 60 * 1000;
const TIMES_MS: readonly number[] = [HOUR_MS / 4, HOUR_MS, 8 * HOUR_MS, 24 * HOUR_MS, 7 * 24 * HOUR_MS];

/** Says that there is nothing more: not a value that could be let go. */
const isOpen = (condition: Condition): boolean => 'only' in condition;

type Props = {
  readonly card: QuestionCard;
  readonly exact: readonly Condition[];
  readonly obstacle: string | undefined;
  readonly give: (grant: Grant) => void;
  readonly close: () => void;
};

export const GrantField = ({ card, exact, obstacle, give, close }: Props): ReactNode => {
  const [off, setOff] = useState<ReadonlySet<string>>(new Set());
  const [forMs, setForMs] = useState(HOUR_MS);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>('input, select')?.focus(), []);
  const toggle = (at: string): void => {
    const next = new Set(off);
    if (!next.delete(at)) next.add(at);
    setOff(next);
  };
  const send = (event: FormEvent): void => {
    event.preventDefault();
    const when = exact.filter((condition) => isOpen(condition) || !off.has(condition.at));
    if (!obstacle) give({ when, forMs });
  };
  return (
    <form
      ref={form}
      onSubmit={send}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        close();
      }}
    >
      <fieldset className="grant">
        <legend>
          Further calls of <code>{card.tool}</code> in this session run without a question, where
        </legend>
        {exact
          .filter((condition) => !isOpen(condition))
          .map((condition) => (
            <label className="check" key={condition.at}>
              <input type="checkbox" checked={!off.has(condition.at)} onChange={() => toggle(condition.at)} />
              <span>
                <Revealed
                  text={off.has(condition.at) ? `${condition.at} may be anything` : conditionWords(condition)}
                />
              </span>
            </label>
          ))}
        <p className="caption">There is no argument more than these.</p>
      </fieldset>
      <label className="field inline">
        <span>For</span>
        <select value={forMs} onChange={({ target }) => setForMs(Number(target.value))}>
          {TIMES_MS.map((ms) => (
            <option key={ms} value={ms}>
              {formatDuration(ms)}
            </option>
          ))}
        </select>
      </label>
      <p className="ends">
        <button className="button primary" type="submit" aria-disabled={obstacle !== undefined}>
          {obstacle ?? `Approve and grant for ${formatDuration(forMs)}`}
        </button>
        <button className="button quiet" type="button" onClick={close}>
          Back
        </button>
      </p>
    </form>
  );
};
