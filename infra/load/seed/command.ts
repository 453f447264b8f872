/**
 * `npm run load -- seed [--contacts N] [--events N] [--organizations N]`: fills the running platform's core. What is
 * there is passed over, so that an interrupted run goes on; `npm start -- --reset` begins anew.
 */
import { adminUrl } from '@customer-platform/kit/databases.ts';
import { ProgressBar } from '@customer-platform/replay/progress-bar.ts';
import { runningPlatform } from '@customer-platform/kit/platform.ts';
import type { SeedSize } from './plan.ts';
import { rowsToSeed, seed } from './seed.ts';

/** What a person says to it, as text. */
interface SeedWords {
  contacts: string;
  events: string;
  organizations: string;
  data: string;
}

function count(name: string, text: string, least: number): number {
  const value = Number(text.replaceAll(/[_,]/g, ''));
  if (!Number.isSafeInteger(value) || value < least)
    throw new Error(`--${name} takes a whole number from ${least}; not "${text}".`);
  return value;
}

/** @throws Error of one sentence */
export function sizeOf(words: Omit<SeedWords, 'data'>): SeedSize {
  const size = {
    contacts: count('contacts', words.contacts, 1),
    events: count('events', words.events, 0),
    organizations: count('organizations', words.organizations, 1),
  };
  if (size.contacts < size.organizations)
    throw new Error('--contacts: every organization needs at least one.');
  return size;
}

/** Seeds the platform whose data are in a folder, its demo organization most. */
export async function runSeed(words: SeedWords, say: (line: string) => void): Promise<void> {
  const size = sizeOf(words);
  const platform = await runningPlatform(words.data);
  const databaseUrl = adminUrl(platform, 'core');
  const { contacts, events, organizations } = size;
  say(`seeding ${contacts} contacts and ${events} events of ${organizations} organizations by COPY`);
  const bar = new ProgressBar(rowsToSeed(size));
  const began = performance.now();
  const written = await seed({
    ...size,
    databaseUrl,
    organizationId: platform.organization_id,
    progress: (done) => bar.show(done),
  });
  bar.end();
  const seconds = (performance.now() - began) / 1000;
  say(
    `${written} rows written in ${seconds.toFixed(0)} s${written < rowsToSeed(size) ? ', the others were there' : ''}`,
  );
}
