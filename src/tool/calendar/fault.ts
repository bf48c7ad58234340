/** What the calendar refuses, as values a model can act on. Every code is stable. */
import { ToolError } from '../tool.ts';
import type { JcalProperty } from './jcal.ts';

export type CalendarCode =
  | 'zone-unknown'
  | 'zone-missing'
  | 'time-invalid'
  | 'text-invalid'
  | 'rule-invalid'
  | 'rule-too-long'
  | 'range-too-long'
  | 'entry-not-found'
  | 'entry-changed'
  | 'occurrence-missing'
  | 'occurrence-not-found'
  | 'series-move-unsupported'
  | 'ics-invalid'
  | 'ics-too-large'
  | 'key-reused'
  | 'calendar-busy'
  | 'calendar-unreadable'
  | 'calendar-too-new';

/** A refusal before anything was written. */
export const refuse = (code: CalendarCode, message: string): ToolError => new ToolError(message, { code });

/** A value of a component that cannot be read. The import turns it into a line of the file. */
export class ComponentFault extends Error {
  override readonly name = 'ComponentFault';
  readonly property: JcalProperty | undefined;
  readonly code: CalendarCode;

  constructor(message: string, property: JcalProperty | undefined, code: CalendarCode = 'ics-invalid') {
    super(message);
    this.property = property;
    this.code = code;
  }
}
