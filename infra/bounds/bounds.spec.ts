import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BOUNDS, OTHER_JOBS } from './bounds.ts';

const ROOT = join(import.meta.dirname, '../..');
const SOURCES = globSync('{apps,libs}/*/src/**/*.ts', {
  cwd: ROOT,
  exclude: [
    '**/*.spec.ts',
    '**/*.fixture.ts',
    '**/*.suite.ts',
    'apps/console/**',
    'libs/testing/**',
    'libs/client/**',
  ],
});
const sourceOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** What is refused, whether by an answer, by a wait or by `Places`. */
const REFUSALS = [
  /new Problem\(\s*'(?:rate_limited|limit_reached|overloaded|list_full)'/gu,
  /reason: 'rate_limited'/gu,
  /(?:new Places|extends Places)\b/gu,
];
/** Another class is called so in crm. */
const isOfPlaces = (text: string): boolean => /\bPlaces\b[^;]*from '@customer-platform\/http'/u.test(text);
const refusalsIn = (text: string): number =>
  REFUSALS.flatMap((pattern) => [...text.matchAll(pattern)]).filter(
    ([found]) => !found.includes('Places') || isOfPlaces(text),
  ).length;

/** Begins something again and again. */
const JOB = /extends WorkerJob\b|new PollingJob\(|new SteadyLoop\(/u;
/** Takes no rows. */
const IDLE = /takes: null/u;
/** Asks whose turn it is. */
const BY_TENANT = /\b(?:TurnLine|LatestTurns|TenantTurns)\b/u;

describe('the bounds', () => {
  it('are all in the table, each with as many refusals as there are', () => {
    const found = SOURCES.map((file): [string, number] => [file, refusalsIn(sourceOf(file))]);
    const told = BOUNDS.map(({ file, refusals }): [string, number] => [file, refusals]);
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(found.filter(([, count]) => count > 0)));
  });

  const ofTenants = BOUNDS.filter(({ of }) => of === 'tenant');

  it.each(ofTenants)('$what: a tenant with children is shown to have no more', ({ shownBy = '' }) => {
    expect(sourceOf(shownBy)).toMatch(/expectChildrenShare\(|\btenant\b|\bancestors\b/u);
  });
});

describe('the jobs', () => {
  const jobs = SOURCES.filter((file) => JOB.test(sourceOf(file)) && !IDLE.test(sourceOf(file)));

  it('take turns by tenant, or it is said why nobody waits', () => {
    const others = jobs.filter(
      (file) => !BY_TENANT.test(sourceOf(file)) && file !== 'libs/http/src/jobs/worker-job.ts',
    );
    expect(others.sort()).toEqual(Object.keys(OTHER_JOBS).sort());
  });
});
