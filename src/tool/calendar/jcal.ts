/**
 * iCalendar components as jCal (RFC 7265), the form they are kept in: plain JSON that loses no property.
 * A property is [name, parameters, type, ...values]; a component is [name, properties, components].
 */
import ICAL from 'ical.js';

export type JcalValue =
  | string
  | number
  | boolean
  | readonly JcalValue[]
  | { readonly [key: string]: JcalValue };
export type JcalProperty = [
  name: string,
  parameters: { [name: string]: string | string[] },
  type: string,
  ...values: JcalValue[],
];
export type Jcal = [name: string, properties: JcalProperty[], components: Jcal[]];

export const propertiesOf = (component: Jcal, name: string): JcalProperty[] =>
  component[1].filter((property) => property[0] === name);

export const propertyOf = (component: Jcal, name: string): JcalProperty | undefined =>
  component[1].find((property) => property[0] === name);

/** A value as text: strings as they are, anything else as JSON. */
export const valueText = (value: JcalValue | undefined): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');

/** The text of a property's first value; undefined where there is none. */
export const textOf = (component: Jcal, name: string): string | undefined => {
  const value = propertyOf(component, name)?.[3];
  return value === undefined ? undefined : valueText(value);
};

export const parameterOf = (property: JcalProperty, name: string): string | undefined => {
  const value = property[1][name];
  return Array.isArray(value) ? value[0] : value;
};

/** The component with some properties taken out and others put in. The one given is not touched. */
export const withProperties = (
  component: Jcal,
  without: readonly string[],
  put: readonly JcalProperty[],
): Jcal => {
  const gone = new Set([...without, ...put.map(([name]) => name)]);
  return [component[0], [...component[1].filter(([name]) => !gone.has(name)), ...put], component[2]];
};

/** One unfolded content line as a property. Throws an Error that says what is wrong with it. */
export const parseLine = (line: string): JcalProperty =>
  ICAL.Property.fromString(line).toJSON() as JcalProperty;

/** Components as .ics text, lines folded and ended by CRLF, without a last one. */
export const stringifyJcal = (component: Jcal): string => ICAL.stringify(component);
