/** The one field that rejecting or answering asks for, with what the model will be told. */
import { useEffect, useId, useRef, useState, type FormEvent, type ReactNode } from 'react';
import { submitByKey } from '../parts/submit.ts';
import { Revealed } from '../parts/text.tsx';

type Props = {
  readonly kind: 'reject' | 'respond';
  readonly tool: string;
  readonly isSending: boolean;
  readonly give: (text: string) => void;
  readonly close: () => void;
};

export const AnswerField = ({ kind, tool, isSending, give, close }: Props): ReactNode => {
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const isReject = kind === 'reject';
  const isEmpty = text.trim() === '';
  const isInert = isSending || (isEmpty && !isReject);
  useEffect(() => field.current?.focus(), []);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (!isInert) give(text.trim());
  };
  return (
    <form
      onSubmit={send}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        close();
      }}
    >
      <label className="field" htmlFor={id}>
        <span>
          {isReject
            ? 'Why not: the model is told this, and may try something else'
            : 'Your answer: the model gets it as the result of the call'}
        </span>
      </label>
      <textarea
        ref={field}
        id={id}
        rows={3}
        value={text}
        aria-describedby={`${id}-then`}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={submitByKey}
      />
      <p className="caption" id={`${id}-then`}>
        {isReject ? (
          <>
            <code>
              <Revealed text={tool} />
            </code>{' '}
            does not run.{isEmpty && ' Without a reason the model is told only that a person rejected it.'}
          </>
        ) : (
          <>
            <code>
              <Revealed text={tool} />
            </code>{' '}
            does not run; your words stand in for its result.
          </>
        )}
      </p>
      <p className="ends">
        <button
          className={isReject ? 'button danger' : 'button primary'}
          type="submit"
          aria-disabled={isInert}
        >
          {isReject ? 'Reject the call' : 'Give this answer'}
        </button>
        <button className="button quiet" type="button" onClick={close}>
          Back
        </button>
      </p>
    </form>
  );
};
