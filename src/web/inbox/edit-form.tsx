/** Other arguments in place of the model's: every value a field, or all of it as JSON. The server checks as one types. */
import { useEffect, useId, useRef, useState, type ReactNode } from 'react';
import type { EditTrialView, QuestionCard } from '../../server/inbox-shapes.ts';
import { followWords } from '../../view/card-words.ts';
import { domainWords } from '../../view/domains.ts';
import { countOf } from '../../view/format.ts';
import { door } from '../data/door.ts';
import { Icon } from '../parts/icon.tsx';
import { Patch } from '../parts/patch.tsx';
import { ProblemLine } from '../parts/states.tsx';
import { Revealed } from '../parts/text.tsx';
import { callUrl } from './card-id.ts';
import { fieldsOf, withFields, type ArgumentField } from './edit-fields.ts';
import { Warning } from './preview.tsx';

/** What stands in the form, and what the server says of exactly that. */
export type Draft = {
  readonly text: string;
  /** Undefined while it is being asked. */
  readonly trial: EditTrialView | undefined;
  readonly problem: unknown;
};

/** How long the hand rests before the server is asked. */
const ASK_AFTER_MS = 120;

/** Undefined where nothing is edited. */
export const useDraft = (card: QuestionCard, text: string | undefined): Draft | undefined => {
  const [answer, setAnswer] = useState<Draft>();
  const { session, call, digest } = card;
  useEffect(() => {
    if (text === undefined) return undefined;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      door
        .ask<EditTrialView>(callUrl({ session, call }, '/edit-trial'), { digest, args: text }, stop.signal)
        .then(
          (trial) => {
            if (!stop.signal.aborted) setAnswer({ text, trial, problem: undefined });
          },
          (problem: unknown) => {
            if (!stop.signal.aborted) setAnswer({ text, trial: undefined, problem });
          },
        );
    }, ASK_AFTER_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [session, call, digest, text]);
  if (text === undefined) return undefined;
  return answer?.text === text ? answer : { text, trial: undefined, problem: undefined };
};

type Props = {
  readonly card: QuestionCard;
  readonly draft: Draft;
  readonly change: (text: string) => void;
};

export const EditForm = ({ card, draft, change }: Props): ReactNode => {
  const fields = fieldsOf(draft.text);
  const [isJson, setJson] = useState(false);
  const asJson = isJson || fields === undefined;
  const form = useRef<HTMLDivElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>('input, textarea, select')?.focus(), [asJson]);
  return (
    <div className="edit-form" ref={form}>
      {asJson ? (
        <JsonField card={card} draft={draft} change={change} />
      ) : (
        <ValueFields card={card} draft={draft} change={change} fields={fields} />
      )}
      <p className="edit-way">
        <button
          className="button small"
          type="button"
          aria-disabled={fields === undefined}
          onClick={() => {
            if (fields !== undefined) setJson(!isJson);
          }}
        >
          {asJson ? 'Edit by fields' : 'Edit as JSON'}
        </button>
      </p>
      <Verdict draft={draft} />
    </div>
  );
};

const JsonField = ({ card, draft, change }: Props): ReactNode => {
  const [text, setText] = useState(() => (draft.text === card.args ? card.pretty : draft.text));
  return (
    <label className="field">
      <span>Arguments as JSON</span>
      <textarea
        className="mono"
        rows={Math.min(24, text.split('\n').length + 1)}
        spellCheck={false}
        value={text}
        onChange={({ target: { value } }) => {
          setText(value);
          change(value);
        }}
      />
    </label>
  );
};

const ValueFields = ({
  card,
  draft: { text, trial },
  change,
  fields,
}: Props & { readonly fields: readonly ArgumentField[] }): ReactNode => {
  const before = new Map((fieldsOf(card.args) ?? []).map(({ at, value }) => [at, value]));
  const problems = trial?.kind === 'invalid' ? trial.problems : [];
  return (
    <>
      {fields.map((field) => (
        <ValueField
          key={field.at}
          field={field}
          isChanged={before.get(field.at) !== field.value}
          problems={problems.filter(({ at }) => at === field.at).map(({ message }) => message)}
          warnings={
            field.kind === 'text' && field.value.length < ADDRESS_MAX
              ? domainWords(field.value, card.known)
              : []
          }
          change={(value) => change(withFields(text, new Map([[field.at, value]])))}
        />
      ))}
      {fields.length === 0 && <p className="caption">There is no value to change. Edit it as JSON.</p>}
    </>
  );
};

/** Longer texts are no address. */
const ADDRESS_MAX = 300;
const ONE_LINE_MAX = 90;

type ValueProps = {
  readonly field: ArgumentField;
  readonly isChanged: boolean;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  readonly change: (value: string) => void;
};

const ValueField = ({
  field: { at, kind, value },
  isChanged,
  problems,
  warnings,
  change,
}: ValueProps): ReactNode => {
  const id = useId();
  const isLong = kind === 'text' && (value.length > ONE_LINE_MAX || value.includes('\n'));
  const common = {
    id,
    value,
    'aria-invalid': problems.length > 0,
    'aria-describedby': `${id}-said`,
    spellCheck: false,
  } as const;
  return (
    <div className="field">
      <p className="field-name">
        <label htmlFor={id}>
          <Revealed text={at.slice(1).replaceAll('~1', '/').replaceAll('~0', '~')} />
        </label>
        {isChanged && <span className="tag">changed</span>}
      </p>
      {kind === 'boolean' ? (
        <select {...common} onChange={({ target }) => change(target.value)}>
          <option value="true">true</option>
          <option value="false">false</option>
        </select>
      ) : isLong ? (
        <textarea
          {...common}
          rows={Math.min(16, value.split('\n').length + 1)}
          onChange={({ target }) => change(target.value)}
        />
      ) : (
        <input {...common} type="text" onChange={({ target }) => change(target.value)} />
      )}
      <div id={`${id}-said`}>
        {problems.map((words) => (
          <p className="message fail small-message" key={words}>
            <Icon name="fail" small />
            <span>{words}</span>
          </p>
        ))}
        {warnings.map((words) => (
          <Warning key={words} words={words} />
        ))}
      </div>
    </div>
  );
};

const Verdict = ({ draft: { trial, problem } }: { readonly draft: Draft }): ReactNode => (
  <div className="edit-verdict" aria-live="polite">
    {problem !== undefined && <ProblemLine problem={problem} />}
    {trial?.kind === 'same' && <p className="caption">Nothing is changed yet.</p>}
    {trial?.kind === 'invalid' && (
      <p className="message fail">
        <Icon name="fail" small />
        <span>
          {trial.problems.length > 0 && `${countOf(trial.problems.length, 'thing')} to fix. `}
          <Revealed text={trial.message} />
        </span>
      </p>
    )}
    {trial?.kind === 'valid' && (
      <>
        <Patch patch={trial.patch} name="your change" />
        <p className={trial.follow.kind === 'rejected' ? 'message wait' : 'message done'}>
          <Icon name={trial.follow.kind === 'rejected' ? 'warn' : 'done'} small />
          <span>
            It fits the schema. <Revealed text={followWords(trial.follow)} />
          </span>
        </p>
      </>
    )}
  </div>
);
