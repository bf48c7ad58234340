/** Arguments as fields: nothing of what is not changed is changed. */
import { expect, test } from 'vitest';
import { fieldsOf, withFields } from '../../src/web/inbox/edit-fields.ts';

const ARGS =
  '{"to":["a@b.example","c@d.example"],"sum":12345678901234567890,"exact":1.10,"on":true,"none":null,"a/b":{"~":"x \\"y\\" {1}"}}';

test('every value has a place, and keeps each of its digits', () => {
  expect(fieldsOf(ARGS)).toEqual([
    { at: '/to/0', kind: 'text', value: 'a@b.example' },
    { at: '/to/1', kind: 'text', value: 'c@d.example' },
    { at: '/sum', kind: 'number', value: '12345678901234567890' },
    { at: '/exact', kind: 'number', value: '1.10' },
    { at: '/on', kind: 'boolean', value: 'true' },
    { at: '/none', kind: 'null', value: 'null' },
    { at: '/a~1b/~0', kind: 'text', value: 'x "y" {1}' },
  ]);
  expect(withFields(ARGS, new Map())).toBe(ARGS);
});

test('what is changed is changed where it stands, and a text stays a text', () => {
  const changed = withFields(
    ARGS,
    new Map([
      ['/to/1', '7'],
      ['/sum', '12345678901234567891'],
      ['/on', 'perhaps'],
      ['/a~1b/~0', 'z'],
    ]),
  );
  expect(changed).toBe(
    '{"to":["a@b.example","7"],"sum":12345678901234567891,"exact":1.10,"on":"perhaps","none":null,"a/b":{"~":"z"}}',
  );
});

test('no JSON has no fields', () => {
  expect(fieldsOf('{"a":')).toBeUndefined();
});
