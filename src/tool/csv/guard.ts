/**
 * Cells that a spreadsheet would run: text that begins with = + - @, tab or CR, or the full-width forms of the
 * four signs, white space before them included. An apostrophe in front makes them text. A negative number is a
 * number; a leading plus is guarded, because nothing but a formula needs one.
 * Source of the list: OWASP, CSV Injection.
 */

const RISKY = /^[\t\r]|^\s*[=+\-@＝＋－＠]/u;
const NEGATIVE_NUMBER = /^-(?:\d+|\d{1,3}(?:[., ’'\u00a0\u202f]\d{3})+)(?:[.,]\d+)?(?:[eE][+-]?\d{1,3})?%?$/u;
/** The start of a cell, for a program that takes another delimiter than the file has. */
const RISKY_AFTER_DELIMITER = /[,;\t|]\s*[=+\-@＝＋－＠]/u;

export const isFormula = (value: string): boolean => RISKY.test(value) && !NEGATIVE_NUMBER.test(value);

/** Whether a cell holds what another delimiter would make a formula of. Such a cell is quoted. */
export const hidesFormula = (value: string): boolean => RISKY_AFTER_DELIMITER.test(value);

export const guarded = (value: string): string => (isFormula(value) ? `'${value}` : value);
