/** What a decision is about, drawn from the tool's preview: nothing cut, and all that is hidden in it made visible. */
import { useState, type ReactNode } from 'react';
import type { QuestionCard } from '../../server/inbox-shapes.ts';
import { countOf, formatBytes, formatCount } from '../../view/format.ts';
import { domainsIn, domainWords } from '../../view/domains.ts';
import { describeFindings, findings } from '../../view/reveal.ts';
import { Icon } from '../parts/icon.tsx';
import { Patch } from '../parts/patch.tsx';
import { PlainText, Revealed } from '../parts/text.tsx';

type PreviewBlock = NonNullable<QuestionCard['preview']>['blocks'][number];
type BlockOf<Kind extends PreviewBlock['kind']> = Extract<PreviewBlock, { readonly kind: Kind }>;

type CellChange = BlockOf<'cells'>['changes'][number];
type CalendarEntryView = NonNullable<BlockOf<'calendar'>['before']>;

export const PreviewBlocks = ({
  blocks,
  known,
}: {
  readonly blocks: readonly PreviewBlock[];
  /** Domains that the reader knows: others that look like them are pointed out. */
  readonly known: readonly string[];
}): ReactNode =>
  blocks.map((block, at) => (
    <div className="block-of-preview" key={at}>
      <Block block={block} known={known} />
      {warningsOf(block, known).map((words) => (
        <Warning key={words} words={words} />
      ))}
    </div>
  ));

export const Warning = ({ words }: { readonly words: string }): ReactNode => (
  <p className="message wait small-message">
    <Icon name="warn" small />
    <span>
      <Revealed text={words} />
    </span>
  </p>
);

const Block = ({
  block,
  known,
}: {
  readonly block: PreviewBlock;
  readonly known: readonly string[];
}): ReactNode => {
  switch (block.kind) {
    case 'text':
      return <TextBlock block={block} />;
    case 'fields':
      return (
        <Fields
          rows={block.fields.map(({ name, value, warning }) => ({
            name,
            value,
            warnings: warning === undefined ? [] : [warning],
          }))}
        />
      );
    case 'diff':
      return (
        <Patch
          patch={block.patch}
          name={block.path}
          note={`${block.newFile ? 'new file, ' : ''}${countOf(block.added, 'line')} added, ${formatCount(block.removed)} removed`}
        />
      );
    case 'cells':
      return <Cells block={block} />;
    case 'mail':
      return <Mail block={block} known={known} />;
    case 'calendar':
      return <Calendar block={block} />;
    case 'http':
      return <Http block={block} known={known} />;
    default:
      return block satisfies never;
  }
};

const TextBlock = ({ block: { title, text } }: { readonly block: BlockOf<'text'> }): ReactNode => (
  <>
    {title !== undefined && (
      <p className="caption">
        <Revealed text={title} />
      </p>
    )}
    <div className="well-text mono">
      <PlainText text={text.replaceAll('\r\n', '\n')} />
    </div>
  </>
);

type Row = { readonly name: string; readonly value: string; readonly warnings: readonly string[] };

export const Fields = ({ rows }: { readonly rows: readonly Row[] }): ReactNode => (
  <dl className="facts">
    {rows.map(({ name, value, warnings }, at) => (
      <div className="contents" key={`${name} ${at}`}>
        <dt>
          <Revealed text={name} />
        </dt>
        <dd>
          <PlainText text={value} />
          {warnings.map((words) => (
            <Warning key={words} words={words} />
          ))}
        </dd>
      </div>
    ))}
  </dl>
);

const Cells = ({ block }: { readonly block: BlockOf<'cells'> }): ReactNode => {
  const { path, keyName = 'key', changes, newRows, untouchedRows } = block;
  const keyed = changes.some(({ key }) => key !== undefined);
  return (
    <>
      <p className="cells-head">
        <b>
          <Revealed text={path} />
        </b>
        <span className="dim">
          {countOf(untouchedRows, 'other row')} {untouchedRows === 1 ? 'stays' : 'stay'} byte for byte the
          same
          {newRows > 0 && `, ${countOf(newRows, 'new row')}`}
        </span>
      </p>
      <table className="cells">
        <thead>
          <tr>
            <th scope="col" className="number">
              Row
            </th>
            {keyed && (
              <th scope="col">
                <Revealed text={keyName} />
              </th>
            )}
            <th scope="col">Column</th>
            <th scope="col">Now</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {changes.map((change, at) => (
            <CellRow key={at} change={change} keyName={keyed ? keyName : undefined} />
          ))}
        </tbody>
      </table>
    </>
  );
};

const CellRow = ({
  change: { row, key = '', column, before, after },
  keyName,
}: {
  readonly change: CellChange;
  readonly keyName: string | undefined;
}): ReactNode => (
  <tr>
    <td className="number mono" data-label="Row">
      {row}
    </td>
    {keyName !== undefined && (
      <td data-label={keyName}>
        <Revealed text={key} />
      </td>
    )}
    <td data-label="Column">
      <Revealed text={column} />
    </td>
    <td data-label="Now">
      {before === undefined ? (
        <span className="dim">new</span>
      ) : (
        <del>
          <Cell text={before} />
        </del>
      )}
    </td>
    <td data-label="After">
      <ins>
        <Cell text={after} />
      </ins>
    </td>
  </tr>
);

const Cell = ({ text }: { readonly text: string }): ReactNode =>
  text === '' ? <span className="dim">empty</span> : <Revealed text={text} newlines />;

const people = (name: string, addresses: readonly string[], known: readonly string[]): readonly Row[] =>
  addresses.map((value, at) => ({
    name: at === 0 ? name : '',
    value,
    warnings: domainWords(value, known).map((words) => sentence(value, words)),
  }));

const Mail = ({
  block,
  known,
}: {
  readonly block: BlockOf<'mail'>;
  readonly known: readonly string[];
}): ReactNode => {
  const [isSource, setSource] = useState(false);
  const { from, to, cc, bcc, replyTo, subject, body, attachments } = block;
  // A reply address is compared with whom the mail goes to: that is where look-alikes are.
  const familiar = [...known, from, ...to];
  return (
    <div className="mail">
      <Fields
        rows={[
          ...people('From', [from], known),
          ...people('To', to, known),
          ...people('Cc', cc, familiar),
          ...people('Bcc', bcc, familiar),
          ...people('Reply-To', replyTo === undefined ? [] : [replyTo], familiar),
          { name: 'Subject', value: subject, warnings: [] },
          {
            name: 'Attached',
            value:
              attachments.length === 0
                ? 'nothing'
                : attachments.map(({ name, bytes }) => `${name}, ${formatBytes(bytes)}`).join('\n'),
            warnings: [],
          },
        ]}
      />
      <div className={isSource ? 'letter mono' : 'letter'}>
        {isSource ? (
          <pre>
            <Revealed text={mailSource(block)} newlines tabs indent />
          </pre>
        ) : (
          <PlainText text={body.replaceAll('\r\n', '\n')} />
        )}
      </div>
      <p className="mail-foot">
        <button
          className="button small"
          type="button"
          aria-pressed={isSource}
          onClick={() => setSource(!isSource)}
        >
          {isSource ? 'Show it as it will look' : 'Show the source'}
        </button>
      </p>
    </div>
  );
};

/** Header by header, as the tool hands it over; what a mail program adds on the way is not in it. */
const mailSource = ({ from, to, cc, bcc, replyTo, subject, body, attachments }: BlockOf<'mail'>): string =>
  [
    `From: ${from}`,
    `To: ${to.join(', ')}`,
    ...(cc.length > 0 ? [`Cc: ${cc.join(', ')}`] : []),
    ...(bcc.length > 0 ? [`Bcc: ${bcc.join(', ')}`] : []),
    ...(replyTo === undefined ? [] : [`Reply-To: ${replyTo}`]),
    `Subject: ${subject}`,
    ...attachments.map(({ name, bytes }) => `Attachment: ${name}; ${bytes} bytes`),
    '',
    body,
  ].join('\n');

const ENTRY = [
  ['Title', (entry: CalendarEntryView) => entry.title],
  ['When', (entry: CalendarEntryView) => entry.when],
  ['UTC', (entry: CalendarEntryView) => entry.utc],
  ['Where', (entry: CalendarEntryView) => entry.where],
  ['Repeats', (entry: CalendarEntryView) => entry.repeats],
] as const;

const Calendar = ({
  block: { before, after, conflicts },
}: {
  readonly block: BlockOf<'calendar'>;
}): ReactNode => (
  <>
    <div className="from-to">
      {before && <CalendarEntry word={after ? 'now' : 'will be removed'} entry={before} other={after} gone />}
      {before && after && <Icon name="arrow" />}
      {after && <CalendarEntry word={before ? 'after' : 'new entry'} entry={after} other={before} />}
    </div>
    {conflicts.length === 0 ? (
      <p className="message done small-message">
        <Icon name="done" small />
        <span>
          No conflict was found when this preview was made. It is checked again right before it runs.
        </span>
      </p>
    ) : (
      conflicts.map((words) => <Warning key={words} words={`Conflict: ${words}`} />)
    )}
  </>
);

const CalendarEntry = ({
  word,
  entry,
  other,
  gone = false,
}: {
  readonly word: string;
  readonly entry: CalendarEntryView;
  readonly other: CalendarEntryView | undefined;
  readonly gone?: boolean;
}): ReactNode => (
  <div className={gone ? 'old' : 'new'}>
    <span className="caption">{word}</span>
    <dl>
      {ENTRY.map(([name, read]) => {
        const value = read(entry);
        if (value === undefined || value === '') return null;
        const differs = other !== undefined && read(other) !== value;
        return (
          <div key={name}>
            <dt className="caption">{name}</dt>
            <dd className={differs ? 'differs' : undefined}>
              {differs ? (
                gone ? (
                  <del>
                    <Revealed text={value} />
                  </del>
                ) : (
                  <ins>
                    <Revealed text={value} />
                  </ins>
                )
              ) : (
                <Revealed text={value} />
              )}
            </dd>
          </div>
        );
      })}
    </dl>
  </div>
);

const Http = ({
  block: { method, url, headers, body },
  known,
}: {
  readonly block: BlockOf<'http'>;
  readonly known: readonly string[];
}): ReactNode => {
  const [, scheme = '', host = url, rest = ''] = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)(.*)$/isu.exec(url) ?? [];
  return (
    <div className="http">
      <p className="request-line mono">
        <b>
          <Revealed text={method} />
        </b>{' '}
        <span>
          <Revealed text={scheme} />
          <b>
            <Revealed text={host} />
          </b>
          <Revealed text={rest} />
        </span>
      </p>
      {domainWords(url, known).map((words) => (
        <Warning key={words} words={sentence(host, words)} />
      ))}
      <Fields rows={headers.map(([name, value]) => ({ name, value, warnings: [] }))} />
      {body !== undefined && (
        <div className="well-text mono">
          <PlainText text={body} />
        </div>
      )}
    </div>
  );
};

/** Texts whose domains have no line of their own with a warning under it. */
const proseOf = (block: PreviewBlock): readonly string[] => {
  if (block.kind === 'mail') return [block.subject, block.body];
  return block.kind === 'http' ? stringsOf([block.headers, block.body]) : stringsOf(block);
};

const warningsOf = (block: PreviewBlock, known: readonly string[]): readonly string[] => {
  const addresses = block.kind === 'mail' ? [block.from, ...block.to, ...block.cc, ...block.bcc] : [];
  const domains = domainsIn(proseOf(block));
  const alike = domains.flatMap((domain, at) =>
    domainWords(domain, [...known, ...addresses, ...domains.slice(0, at)]).map((words) =>
      sentence(domain, words),
    ),
  );
  const hidden = describeFindings(findings(stringsOf(block).join('\n')));
  return [...new Set([...alike, ...(hidden === undefined ? [] : [hidden])])];
};

const sentence = (subject: string, words: string): string =>
  words.startsWith(subject) ? words : `${subject} ${words}`;

const stringsOf = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(stringsOf);
};
