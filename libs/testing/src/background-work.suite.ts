import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { backgroundWork, metrics, type BackgroundWork } from '@customer-platform/http';
import { WORKSPACE } from './app-process.js';
import { DatabaseFault, type Fault } from './database-fault.js';
import { eventually } from './eventually.js';
import type { TestDatabase } from './test-database.js';

/** A module that runs all of its background work, with a clock of its own. */
export interface WorkingModule {
  readonly database: TestDatabase;
  /** Makes an organization of its own. */
  organization(): Promise<string> | string;
  /** Moves the module's clock on. */
  pass(ms: number): void;
}

/** A fault elsewhere than in PostgreSQL, from `begin` until it is mended. */
export interface OtherFault {
  begin(): Promise<{ mend(): Promise<void> }>;
}

/** How a piece of background work is given something to do, and made to fail at it. */
export interface WorkScenario {
  /** Gives the organization so many rows that are due now. */
  give(organizationId: string, rows: number): Promise<void>;
  /** The change of the rows of this organization at which PostgreSQL fails, or what else its work fails at. */
  fault(organizationId: string): Fault | OtherFault;
  /** How many of its rows are not done. */
  left(organizationId: string): Promise<number>;
  /** An organization has one row of it at most. */
  readonly single?: true;
  /** So many stand for a thousand where each takes long. */
  readonly many?: number;
  /** How often a failure has been told of; default: `job_failures_total` of the work's name. */
  told?(organizationId: string): Promise<number>;
  /**
   * Gives to its consumer again what was set aside, as an operator does. A consumer has no time of its own at which it looks
   * again, and what others send it goes on: without that nothing proves that a time limit is one record's doing.
   */
  again?(organizationId: string): Promise<void>;
  /**
   * Makes due now what is due later, in place of the clock. A clock that jumps ends the claims of what is in hand as well,
   * and some of it may be handed over once only.
   */
  later?(organizationId: string): Promise<void>;
}

/** What the suite is about. */
export interface BackgroundWorkOptions {
  /** Begins the module: called once, before all tests. */
  start(): Promise<WorkingModule>;
  /** Scenarios by the names of the works; where one has several, each with what it is of in brackets behind it. */
  readonly scenarios: Readonly<Record<string, WorkScenario>>;
  /** Works without a scenario: `covered by <file>`, which holds them to the same, or why there is nothing to be held to. */
  readonly without: Readonly<Record<string, string>>;
  /** Of very many rows of a job every other one runs into a time limit. */
  readonly mixed?: true;
  /** So many may be without one: the number only ever falls. */
  readonly mostWithout: number;
}

/** Longer than any failure is waited out. */
const LATER_MS = 6 * 60_000;
const PASSES_AT_ONCE = 20;
const WITHIN_MS = 120_000;
const MANY = 1_000;
const TIME_LIMIT = '57014';

/**
 * Holds all background work of a module to one promise: of one organization's rows that fail for ever, be it one or a
 * thousand, be it at once or at a time limit, another's are done, the failure is told, and they are done once the fault has
 * gone. Work that takes something and has no scenario fails the suite.
 */
export function itHoldsUpNoOther(options: BackgroundWorkOptions): void {
  const { scenarios, without, mostWithout, mixed } = options;
  let module: WorkingModule;
  beforeAll(async () => {
    backgroundWork.clear();
    module = await options.start();
  });

  it('has a scenario for whatever takes something', () => {
    const taking = backgroundWork
      .all()
      .filter(({ takes }) => takes !== null)
      .map(({ name }) => name);
    const known = new Set([...Object.keys(scenarios).map(nameOf), ...Object.keys(without)]);
    expect([...known].sort()).toEqual(taking.sort());
    expect(Object.keys(without)).toHaveLength(mostWithout);
    const files = Object.values(without).flatMap((reason) => /^covered by (\S+)$/.exec(reason)?.[1] ?? []);
    expect(files.filter((file) => !existsSync(join(WORKSPACE, file)))).toEqual([]);
  });

  describe.each(Object.entries(scenarios))('%s', (title, scenario) => {
    const name = nameOf(title);
    it.each([
      ['one row that fails', 1, 'P0001'],
      ['one row that runs into a time limit', 1, TIME_LIMIT],
      ['very many rows that fail', MANY, 'P0001'],
    ])(
      'goes on beside %s',
      async (_, each, code) => {
        const rows = each > 1 ? (scenario.many ?? each) : each;
        if (scenario.single && rows > 1) return;
        const work = workOf(name);
        const [failing, other] = [await module.organization(), await module.organization()];
        const told = (): Promise<number> => scenario.told?.(failing) ?? failuresOf(name);
        // A job leaves what runs into a time limit; a consumer has to find out first whether it is the record's own doing.
        const codes = rows > 1 && mixed && !scenario.again ? [code, TIME_LIMIT] : [code];
        const given = scenario.fault(failing);
        const fault =
          'begin' in given
            ? await given.begin()
            : await DatabaseFault.in(module.database, { ...given, codes });
        try {
          const before = await told();
          await scenario.give(failing, rows);
          await scenario.give(other, 1);
          await until(work, async () => expect(await scenario.left(other)).toBe(0));
          await until(work, async () => {
            if (scenario.again) await scenario.give(other, 1);
            expect(await told()).toBeGreaterThan(before);
          });
          await until(work, async () => expect(await scenario.left(other)).toBe(0));
          expect(await scenario.left(failing)).toBe(rows);
        } finally {
          await fault.mend();
        }
        let looks = 0;
        await until(work, async () => {
          looks += 1;
          // Not at each look: on a slow machine days would pass, and what waits that long has ended otherwise; and what is
          // in hand would be taken from whoever has it.
          if (scenario.later) {
            if (looks % PASSES_AT_ONCE === 1) await scenario.later(failing);
          } else if (looks <= PASSES_AT_ONCE || looks % PASSES_AT_ONCE === 0) module.pass(LATER_MS);
          await scenario.again?.(failing);
          expect(await scenario.left(failing)).toBe(0);
        });
      },
      3 * WITHIN_MS,
    );
  });
}

function nameOf(title: string): string {
  return title.replace(/ \(.+\)$/, '');
}

function workOf(name: string): BackgroundWork {
  const work = backgroundWork.all().find((one) => one.name === name);
  if (!work) throw new Error(`There is no background work ${name}`);
  return work;
}

/** Has it look each time, as its own timer would some time. */
function until(work: BackgroundWork, assertion: () => Promise<void>): Promise<void> {
  const look = async (): Promise<void> => {
    work.wake?.();
    await assertion();
  };
  return eventually(look, { within: WITHIN_MS, every: 100 });
}

/** Counts the failures that the work has told of. */
export async function failuresOf(name: string): Promise<number> {
  const text = await metrics.getSingleMetricAsString('job_failures_total');
  const line = text.split('\n').find((one) => one.includes(`{job_name="${name}"}`));
  return Number(line?.split(' ').at(-1) ?? 0);
}
