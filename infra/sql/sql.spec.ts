import { testDatabase, type TestDatabase } from '@customer-platform/testing';
import ts from 'typescript';
import { Describer } from '@customer-platform/local/platform/statement-descriptions.ts';
import { faultsAt, type Schema } from './judge.ts';
import { placesOf, type Place } from './places.ts';

const ROOT = '/project';
const TRANSACTION = `
  export interface Transaction {
    query<Row = Record<string, unknown>>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
    prepared<Row = Record<string, unknown>>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  }`;
const HEAD = `
  import type { Transaction } from '../../../libs/database/src/transaction.js';
  declare const tx: Transaction;`;

/** The language's own declarations, parsed once. */
const LIBRARY = new Map<string, ts.SourceFile>();

/** The places of one file of crm, and what tells its types. */
function read(source: string): { places: Place[]; checker: ts.TypeChecker } {
  const texts = new Map([
    [`${ROOT}/libs/database/src/transaction.ts`, TRANSACTION],
    [`${ROOT}/apps/crm/src/notes.ts`, HEAD + source],
  ]);
  const options: ts.CompilerOptions = {
    strict: true,
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.NodeNext,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  host.directoryExists = () => true;
  host.fileExists = (file) => texts.has(file) || fileExists(file);
  host.readFile = (file) => texts.get(file) ?? readFile(file);
  host.getSourceFile = (file, language) => {
    const known = LIBRARY.get(file);
    if (known) return known;
    const text = host.readFile(file);
    const source = text === undefined ? undefined : ts.createSourceFile(file, text, language, true);
    if (source && !texts.has(file)) LIBRARY.set(file, source);
    return source;
  };
  const program = ts.createProgram([...texts.keys()], options, host);
  const files = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(`${ROOT}/apps/`));
  return { places: placesOf(program, files, ROOT), checker: program.getTypeChecker() };
}

const statementsOf = (source: string): readonly string[] =>
  read(source).places.flatMap(({ statements }) => statements);

describe('statements in the source', () => {
  it('are found where a transaction runs them, with their values and their place', () => {
    const { places } = read(`
      const other = { query: (sql: string) => sql };
      other.query('SELECT 1');
      tx.query('SELECT 2', [1, 2]);`);
    expect(places).toMatchObject([
      { at: 'apps/crm/src/notes.ts:6', statements: ['SELECT 2'], parameters: 2 },
    ]);
  });

  it.each([
    [
      'of templates and constants',
      "const T = 'notes'; tx.query(`SELECT 1 FROM ${T}`);",
      ['SELECT 1 FROM notes'],
    ],
    [
      'of what is put together in many steps',
      'const c0: string = "SELECT 1";' +
        Array.from({ length: 60 }, (_, at) => `const c${at + 1}: string = c${at};`).join('') +
        'tx.query(c60);',
      ['SELECT 1'],
    ],
    [
      'of functions that put them together',
      'const of = (t: string, { all = false } = {}): string => `SELECT ${all ? "*" : "id"} FROM ${t}`;' +
        'tx.query(of("a")); tx.prepared(of("b", { all: true }));',
      ['SELECT id FROM a', 'SELECT * FROM b'],
    ],
    [
      'of lists that are joined',
      'tx.query(["a", "b"].concat("c").map((c) => `s.${c.toUpperCase()}`).join(", "));',
      ['s.A, s.B, s.C'],
    ],
    [
      'of a list that is filtered by what only runs: with each and without',
      'const of = (has: Set<string>) => { const l = ["a", "b"].filter((c) => has.has(c));' +
        'return ["1", ...l].join() + (l.includes("b") ? "!" : ""); };' +
        'export function f(has: Set<string>) { tx.query(of(has)); }',
      ['1', '1,b!', '1,a', '1,a,b!'],
    ],
    [
      'of a choice: both',
      'export function f(yes: boolean) { tx.query(yes ? "SELECT 1" : "SELECT 2"); }',
      ['SELECT 2', 'SELECT 1'],
    ],
    [
      'of a union of literals: each',
      'export function f(side: "<" | ">") { tx.query(`SELECT 1 ${side} 2`); }',
      ['SELECT 1 < 2', 'SELECT 1 > 2'],
    ],
    ['of a number: any', 'export function f(most: number) { tx.query(`LIMIT ${most}`); }', ['LIMIT 1']],
    [
      'of a parameter: what all callers give',
      'function run(sql: string) { tx.query(sql); } run("SELECT 1"); run("SELECT 2");',
      ['SELECT 1', 'SELECT 2'],
    ],
    [
      'of a loop: each',
      'const ALL = { a: "SELECT 1", b: "SELECT 2" }; for (const [, sql] of Object.entries(ALL)) tx.query(sql);',
      ['SELECT 1', 'SELECT 2'],
    ],
    [
      'of what a constructor sets',
      'class A { private readonly s: { get: string }; constructor(t: string) { this.s = { get: `SELECT ${t}` }; }' +
        'get() { tx.query(this.s.get); } } new A("id");',
      ['SELECT id'],
    ],
    [
      'of a loop over records: their members together',
      'const KINDS = [{ t: "a", c: "x" }, { t: "b", c: "y" }] as const;' +
        'for (const { t, c } of KINDS) { const from = `FROM ${t}`; tx.query(`SELECT ${c} ${from}`); }',
      ['SELECT x FROM a', 'SELECT y FROM b'],
    ],
    [
      'of a class that another extends',
      'class A { private readonly s: string; constructor(t: string) { this.s = `SELECT ${t}`; } get() { tx.query(this.s); } }' +
        'class B extends A { constructor() { super("b"); } } new A("a"); new B();',
      ['SELECT b', 'SELECT a'],
    ],
    [
      'of a member with two values: both',
      'const of = ({ after }: { after: boolean }) => `SELECT${after ? " 1" : " 2"}`;' +
        'export function f(x?: string) { tx.query(of({ after: x !== undefined })); }',
      ['SELECT 1', 'SELECT 2'],
    ],
    [
      'of a list of any length: both',
      'export function f(xs: string[]) { tx.query(`SELECT${xs.length === 0 ? " 1" : " 2"}`); }',
      ['SELECT 1', 'SELECT 2'],
    ],
    [
      'of a function that may throw',
      'function of(yes: boolean) { if (yes) throw new Error(); return "SELECT 1"; }' +
        'export function f(yes: boolean) { tx.query(of(yes)); }',
      ['SELECT 1'],
    ],
    ['of what only runs: none', 'export function f(sql: string) { tx.query(sql + Date.now()); }', []],
    [
      'of a choice with a side that only runs: none',
      'export function f(yes: boolean, x: string) { tx.query(`SELECT 1 ${yes ? x : ""}`); }',
      [],
    ],
    [
      'of what is set anew: none',
      'function of(yes: boolean) { let w = ""; if (yes) w = " WRONG"; return `SELECT 1${w}`; }' +
        'export function f(yes: boolean) { tx.query(of(yes)); }',
      [],
    ],
    [
      'of a record one member of which only runs: none',
      'const ALL: Record<string, string> = { a: "SELECT 1", b: JSON.stringify({}) };' +
        'export function f(k: "a" | "b") { tx.query(ALL[k] ?? ""); }',
      [],
    ],
    [
      'of a function that is handed on: none',
      'function run(sql: string) { tx.query(sql); } run("SELECT 1"); export const all = (l: string[]) => l.map(run);',
      [],
    ],
  ])('are read %s', (_, source, statements) => {
    expect(statementsOf(source).toSorted()).toEqual(statements.toSorted());
  });
});

describe('statements against a schema', () => {
  let database: TestDatabase;
  let schema: Schema;
  beforeAll(async () => {
    database = await testDatabase('crm', []);
    await database.query(
      `CREATE TABLE notes (id uuid, text text, size int, total bigint, tags text[], made timestamptz, data jsonb)`,
    );
    const describer = await Describer.connect(database.url);
    schema = { module: 'crm', describer, types: await describer.types() };
  });
  afterAll(async () => {
    await schema.describer.end();
    await database.drop();
  });

  const faultsOf = async (source: string): Promise<string[]> => {
    const { places, checker } = read(source);
    const faults: string[] = [];
    for (const place of places) faults.push(...(await faultsAt(place, [schema], checker)));
    return faults.map((fault) => fault.replace(/^apps.*?:\d+: /, ''));
  };

  it('pass where the row is what it says', async () => {
    const row = `{ id: string; text: 'a' | 'b' | null; size: number; total: string; tags: string[]; made: Date; data: { a: 1 } }`;
    expect(await faultsOf(`tx.query<${row}>('SELECT * FROM notes WHERE id = $1', ['x']);`)).toEqual([]);
  });

  it.each([
    [
      'a column that is not there',
      `tx.query('SELECT txt FROM notes');`,
      ['column "txt" does not exist: SELECT txt FROM notes'],
    ],
    [
      'too few values',
      `tx.query('SELECT 1 FROM notes WHERE id = $1 AND size = $2', [1]);`,
      ['takes 2 values, and is given 1'],
    ],
    [
      'a row with another name',
      `tx.query<{ txt: string }>('SELECT text FROM notes');`,
      ['no column is named txt'],
    ],
    [
      'a number that comes as text',
      `tx.query<{ total: number }>('SELECT total FROM notes');`,
      ['total is int8, not number'],
    ],
    [
      'a time taken for text',
      `tx.query<{ made: string }>('SELECT made FROM notes');`,
      ['made is timestamptz, not string'],
    ],
    [
      'a list of others',
      `tx.query<{ tags: number[] }>('SELECT tags FROM notes');`,
      ['tags is _text, not number[]'],
    ],
  ])('fail for %s', async (_, source, faults) => {
    expect(await faultsOf(source)).toEqual(faults);
  });

  it('go on after one that fails', async () => {
    expect(await faultsOf(`tx.query('SELEC'); tx.query('SELECT 1'); tx.query('SELECT x');`)).toHaveLength(2);
  });
});
