import { mutationsOf, type Mutation } from './mutations.ts';

const PERMISSIONS = new Set(['core.contacts.read', 'core.contacts.update', 'crm.notes.read']);

function faultsOf(text: string): string[] {
  const put = ({ start, end, replacement }: Mutation): string =>
    text.slice(0, start) + replacement + text.slice(end);
  return mutationsOf('source.ts', text, PERMISSIONS).map(put);
}

it.each([
  ['a < b', ['a <= b']],
  ['a === b', ['a !== b']],
  ['if (a) b();', ['if (false) b();']],
  ['a && b()', ['a']],
  ['a || b()', ['a']],
  ['await a()', ['a()']],
  ['const LIMIT = 1_000', ['const LIMIT = 1001']],
  ['const FIRST = 0', []],
  [`allows('core.contacts.read')`, [`allows('core.contacts.update')`]],
  [`allows('crm.notes.read')`, [`allows('core.contacts.read')`]],
  [`allows('crm.notes.made')`, []],
  ['class A { @IsInt() a = b }', ['class A {  a = b }']],
  ['class A { @Get() a() {} }', []],
  ['type A = 5', []],
])('of %j makes %j', (text, faults) => {
  expect(faultsOf(text)).toEqual(faults);
});

it('leaves statements without a term of their condition, and without their lock', () => {
  const statement = '`SELECT id FROM a WHERE b = $1 AND (c OR d) AND e = ${f} LIMIT 5 FOR UPDATE`';
  expect(faultsOf(statement)).toEqual([
    '`SELECT id FROM a WHERE true AND (c OR d) AND e = ${f} LIMIT 5 FOR UPDATE`',
    '`SELECT id FROM a WHERE b = $1 AND e = ${f} LIMIT 5 FOR UPDATE`',
    '`SELECT id FROM a WHERE b = $1 AND (c OR d) LIMIT 5 FOR UPDATE`',
    '`SELECT id FROM a WHERE b = $1 AND (c OR d) AND e = ${f} LIMIT 5`',
  ]);
});

it('cuts no substitution in two', () => {
  const statement = '`UPDATE a SET b = 2 WHERE c AND d IN (${e.map((f) => `${f}`).join()})`';
  for (const fault of faultsOf(statement)) expect(fault).toContain('${e.map');
});
