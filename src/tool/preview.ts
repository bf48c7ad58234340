/**
 * What a person is shown before a call runs. A preview is made from the exact arguments and the world as
 * it is, never from the model's words; what it was made from is bound to the call through `base`.
 */
import type { Json } from '../event/json.ts';

export type CellChange = {
  /** 1-based row of data, the header not counted. */
  readonly row: number;
  /** A value that names the row for a person, for example the invoice number. */
  readonly key?: string;
  readonly column: string;
  /** Absent for a cell of a new row. */
  readonly before?: string;
  readonly after: string;
};

export type CalendarEntryView = {
  readonly title: string;
  /** Local time with zone, as a person reads it; dates alone for all-day entries. */
  readonly when: string;
  /** ISO 8601 UTC, absent for all-day entries. */
  readonly utc?: string;
  readonly where?: string;
  readonly repeats?: string;
};

/** One block of a preview. All strings are untrusted text: every view makes hidden characters visible. */
export type PreviewBlock =
  | { readonly kind: 'text'; readonly title?: string; readonly text: string }
  | {
      readonly kind: 'fields';
      readonly fields: readonly {
        readonly name: string;
        readonly value: string;
        readonly warning?: string;
      }[];
    }
  | {
      readonly kind: 'diff';
      readonly path: string;
      /** Unified diff, three lines of context. */
      readonly patch: string;
      readonly added: number;
      readonly removed: number;
      readonly newFile: boolean;
    }
  | {
      readonly kind: 'cells';
      readonly path: string;
      /** The column that `key` of each change comes from. */
      readonly keyName?: string;
      readonly changes: readonly CellChange[];
      readonly newRows: number;
      readonly untouchedRows: number;
    }
  | {
      readonly kind: 'mail';
      readonly from: string;
      readonly to: readonly string[];
      readonly cc: readonly string[];
      readonly bcc: readonly string[];
      readonly replyTo?: string;
      readonly subject: string;
      readonly body: string;
      readonly attachments: readonly { readonly name: string; readonly bytes: number }[];
    }
  | {
      readonly kind: 'calendar';
      readonly before?: CalendarEntryView;
      readonly after?: CalendarEntryView;
      readonly conflicts: readonly string[];
    }
  | {
      readonly kind: 'http';
      readonly method: string;
      readonly url: string;
      readonly headers: readonly (readonly [string, string])[];
      readonly body?: string;
    };

export type Preview = {
  /** The act with its limit, as a heading: "Save a mail draft. Nothing is sent." */
  readonly title: string;
  /** What it acts on: a path, an address, a host. */
  readonly target?: string;
  readonly blocks: readonly PreviewBlock[];
  /** Things a person should notice: look-alike domains, conflicts, overwritten work. */
  readonly warnings?: readonly string[];
  /**
   * What the preview was made from (digests, versions), opaque to the runtime: recorded with the call and
   * handed back to `execute` and `reconcile`, which must refuse to act on anything else.
   */
  readonly base?: Json;
};
