/** What this build is called in the record. */
export const VERSION = '0.1.0';
export const PROGRAM: string = `onrecord ${VERSION}`;
