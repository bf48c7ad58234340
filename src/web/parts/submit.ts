/** Ctrl Enter sends what stands in a field of several lines. */
import type { KeyboardEvent } from 'react';

export const submitByKey = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
};
