/** What requests leave out, and why. */
export type LeaveOutReason = 'by-hand' | 'last-turns' | 'budget';

/** What requests leave out, as it was chosen for one of them and holds until another is chosen. */
export type Choice = {
  /** Turns, first and last, in order. */
  readonly out: readonly { readonly from: number; readonly to: number; readonly why: LeaveOutReason }[];
  /** The history.summarised event whose summary stands in place of what it names. */
  readonly summary?: number;
  /**
   * Signed reasoning is valid only behind exactly what it was signed over: where something before it has changed,
   * that of responses up to an event is taken out behind the part that changed, named by its event; 0 is what
   * stands before all parts.
   */
  readonly strips?: readonly { readonly upTo: number; readonly behind: number }[];
};
