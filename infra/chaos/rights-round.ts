import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { processesOf } from '@customer-platform/kit/app-processes.ts';
import { type Platform, request } from '@customer-platform/kit/platform.ts';
import type { Databases } from './databases.ts';

const WITHIN_MS = 240_000;
const LOOK_EVERY_MS = 5;
const BAD_EVERY = 50;
/** Who is killed: core, which does most, more often. */
const VICTIMS = ['core', 'crm', 'core', 'loyalty', 'core', 'messaging'] as const;
/** As the table of erasures names them, in their order; the first is where each begins. */
const STEPS = [
  ...['events', 'segments', 'consents', 'suggestions', 'letters', 'payloads', 'answers', 'imports', 'fence'],
  ...['receipt', 'asked', 'done'],
];
const STEP =
  'SELECT step, round FROM contact_erasures WHERE organization_id = $1 AND subject_request_id = $2';
const POSITION = 'SELECT state, position FROM imports WHERE organization_id = $1 AND id = $2';

interface Settings {
  readonly seed: number;
  readonly number: number;
  readonly rows: number;
}

/** What came of a round. */
interface Outcome {
  readonly wrongs: readonly string[];
  /** Who was killed, and at what. */
  readonly killed: readonly string[];
  readonly seconds: number;
}

interface SubjectRequest {
  id: string;
  state: string;
  receipts: { module: string; state: string }[];
}

interface Import {
  id: string;
  state: string;
  rows: Record<'total' | 'created' | 'updated' | 'unchanged' | 'skipped' | 'failed', number>;
  errors: { data: { line: number }[]; page: { next_cursor: string | null } };
}

/** One person who is erased, one file that is imported, and a kill or two meanwhile. */
export class RightsRound {
  private readonly mark = randomUUID().slice(-12);
  private readonly externalId = `person-${this.mark}`;
  private readonly killed: string[] = [];
  private readonly random: () => number;
  private readonly platform: Platform;
  private readonly databases: Databases;
  private readonly settings: Settings;

  constructor(platform: Platform, databases: Databases, settings: Settings) {
    this.platform = platform;
    this.databases = databases;
    this.settings = settings;
    this.random = randomOf(settings.seed * 1_009 + settings.number);
  }

  async play(): Promise<Outcome> {
    const since = performance.now();
    const wrongs = await this.wrongsOf().catch((error: Error) => [error.message]);
    return { wrongs, killed: this.killed, seconds: Math.round((performance.now() - since) / 1_000) };
  }

  private async wrongsOf(): Promise<string[]> {
    const contactId = await this.leavePerson();
    const [erasure, opened] = await Promise.all([this.openErasure(contactId), this.openImport()]);
    await this.kill(erasure.id, opened.id);
    if (this.random() < 0.4) await this.kill(erasure.id, opened.id);
    return [...(await this.judgeErasure(erasure.id)), ...(await this.judgeImport(opened.id))];
  }

  /** Profile, events, a dead letter, a note and a message that waits. */
  private async leavePerson(): Promise<string> {
    const { externalId, mark } = this;
    const occurred_at = new Date(Date.now() - 60_000).toISOString();
    const common = { external_id: externalId, occurred_at };
    const traits = { email: `${mark}@example.com`, first_name: `First-${mark}`, phone: `+569${this.digits}` };
    const bought = { ...common, type: 'track', event: 'rights_bought', idempotency_key: `${mark}-0` };
    const events = [
      { ...common, type: 'identify', idempotency_key: `${mark}-i`, traits },
      ...Array.from({ length: 300 }, (_, at) => ({
        ...{ ...bought, idempotency_key: `${mark}-${at}`, properties: { said: `property-${mark}` } },
      })),
      { ...bought, properties: { said: `letter-${mark}` } },
    ];
    await this.steadily('POST', '/v1/core/batch', { events });
    const { id } = await this.until(async () => {
      const path = `/v1/core/contacts?external_id=${externalId}`;
      const { data } = await this.read<{ data: { id: string }[] }>(path);
      const usage = await this.read<{ totals: { events: { pending: number } } }>('/v1/core/usage');
      return usage.totals.events.pending === 0 ? data[0] : undefined;
    }, 'the person is stored');
    await this.steadily('POST', '/v1/crm/notes', { contact_id: id, body: `note-${mark}` });
    await this.steadily('POST', '/v1/messaging/sends', {
      ...{
        channel: 'email',
        recipient: { contact_id: id },
        content: { subject: 'Hi', text: `send-${mark}` },
      },
      not_before: new Date(Date.now() + 3_600_000).toISOString(),
    });
    return id;
  }

  private openErasure(contactId: string): Promise<SubjectRequest> {
    const verification = { method: 'chaos', reference: `reference-${this.mark}` };
    const body = { type: 'erasure', contact_id: contactId, verification, note: `request-${this.mark}` };
    return this.steadily('POST', '/v1/core/subject-requests', body);
  }

  /** Each fiftieth row is wrong. */
  private async openImport(): Promise<Import> {
    const lines = Array.from({ length: this.settings.rows }, (_, at) => {
      const mail = isBad(at) ? 'nothing' : `row-${at}-${this.rowMark}@example.com`;
      return `row-${this.rowMark}-${at},${mail}\n`;
    });
    const key = randomUUID();
    return this.until(async () => {
      const form = new FormData();
      form.append('options', JSON.stringify({ mapping: { id: 'external_id', mail: 'email' } }));
      form.append('file', new Blob([`id,mail\n${lines.join('')}`]), 'people.csv');
      const headers = { authorization: `Bearer ${this.platform.admin_key}`, 'idempotency-key': key };
      const answer = await fetch(`${this.platform.base_url}/v1/core/imports`, {
        method: 'POST',
        headers,
        body: form,
      });
      return answer.status === 202 ? ((await answer.json()) as Import) : undefined;
    }, 'the import is taken');
  }

  /** Of a number that nobody else has: who was erased does not come again. */
  private get digits(): number {
    return 50_000_000 + (Number.parseInt(this.mark.slice(0, 7), 16) % 40_000_000);
  }

  /** Rows of the file have nothing of the person. */
  private get rowMark(): string {
    return [...this.mark].reverse().join('');
  }

  /** Kills at a step that core has come to, at a place in the file, or after a while by chance. */
  private async kill(requestId: string, importId: string): Promise<void> {
    const victim = VICTIMS[Math.floor(this.random() * VICTIMS.length)] as string;
    const way = this.random();
    if (way < 0.5) await this.atStep(requestId, STEPS[Math.floor(this.random() * STEPS.length)] as string);
    else if (way < 0.75) await this.atRow(importId, Math.floor(this.random() * this.settings.rows));
    else await sleep(this.random() * 2_000);
    const [erasure] = await this.databases.core<{ step: string; round: number }>(STEP, this.of(requestId));
    const [file] = await this.databases.core<{ state: string }>(POSITION, this.of(importId));
    // Told by their database: another checkout's platform may run beside this one.
    const found = processesOf(this.platform, victim);
    const one = found[Math.floor(this.random() * found.length)];
    if (one === undefined || !killed(one.pid)) {
      this.killed.push(`nobody (${victim} is not there)`);
      return;
    }
    const step = erasure === undefined ? 'none' : `${erasure.step} ${erasure.round}`;
    this.killed.push(`${one.name} at ${step}, import ${file?.state ?? 'none'}`);
  }

  private async atStep(requestId: string, step: string): Promise<void> {
    const wanted = STEPS.indexOf(step);
    const deadline = performance.now() + 10_000;
    while (performance.now() < deadline) {
      const [row] = await this.databases.core<{ step: string }>(STEP, this.of(requestId));
      if (row !== undefined && STEPS.indexOf(row.step) >= wanted) return;
      await sleep(LOOK_EVERY_MS);
    }
  }

  private async atRow(importId: string, row: number): Promise<void> {
    const deadline = performance.now() + 10_000;
    while (performance.now() < deadline) {
      const [file] = await this.databases.core<{ state: string; rows_done: string }>(
        `SELECT state, (SELECT count(*) FROM contacts
                         WHERE organization_id = $1 AND external_id LIKE $3) AS rows_done
           FROM imports WHERE organization_id = $1 AND id = $2`,
        [...this.of(importId), `row-${this.rowMark}-%`],
      );
      if (file?.state === 'completed' || Number(file?.rows_done) >= row) return;
      await sleep(LOOK_EVERY_MS);
    }
  }

  private async judgeErasure(id: string): Promise<string[]> {
    const path = `/v1/core/subject-requests/${id}`;
    const wrongs: string[] = [];
    const is = (read: SubjectRequest): string =>
      `${read.state}, ${read.receipts.map(({ module, state }) => `${module} ${state}`).join(', ')}`;
    let last = '';
    await this.until(async () => {
      const read = await this.read<SubjectRequest>(path);
      last = is(read);
      const verified = read.receipts.filter(({ state }) => state === 'verified');
      return read.state === 'completed' && verified.length === 4 ? true : undefined;
    }, 'the erasure ends').catch(() => wrongs.push(`the erasure stands at: ${last}`));
    let places: string[] = [];
    await this.until(async () => {
      places = await this.databases.placesOf(this.mark);
      return places.length === 0 ? true : undefined;
    }, 'nothing is found').catch(() => wrongs.push(`the person stands in ${places.join(', ')}`));
    return wrongs;
  }

  private async judgeImport(id: string): Promise<string[]> {
    const wrongs: string[] = [];
    const ended = await this.until(async () => {
      const read = await this.read<Import>(`/v1/core/imports/${id}`);
      return ['completed', 'failed'].includes(read.state) ? read : undefined;
    }, 'the import ends');
    const { rows } = this.settings;
    const bad = Array.from({ length: rows }, (_, at) => at).filter(isBad);
    const good = rows - bad.length;
    const counted = `${ended.state} ${Object.values(ended.rows).join(' ')}`;
    const wanted = { total: rows, created: good, updated: 0, unchanged: 0, skipped: 0, failed: bad.length };
    const isRight = Object.entries(wanted).every(
      ([name, count]) => ended.rows[name as keyof Import['rows']] === count,
    );
    if (ended.state !== 'completed' || !isRight) wrongs.push(`the import counts ${counted}`);
    const [stored] = await this.databases.core<{ all: string; once: string }>(
      `SELECT count(*) AS all, count(DISTINCT external_id) AS once FROM contacts
        WHERE organization_id = $1 AND external_id LIKE $2`,
      [this.platform.organization_id, `row-${this.rowMark}-%`],
    );
    if (Number(stored?.all) !== good || Number(stored?.once) !== good)
      wrongs.push(`of ${good} contacts there are ${stored?.all}, ${stored?.once} of them once`);
    const lines = await this.errorLines(id);
    const expected = bad.map((at) => at + 2);
    if (lines.join() !== expected.join())
      wrongs.push(`of ${expected.length} errors there are ${lines.length}`);
    return wrongs;
  }

  private async errorLines(id: string): Promise<number[]> {
    const lines: number[] = [];
    for (let cursor = ''; ;) {
      const { errors } = await this.read<Import>(`/v1/core/imports/${id}?limit=200${cursor}`);
      lines.push(...errors.data.map(({ line }) => line));
      if (errors.page.next_cursor === null) return lines;
      cursor = `&cursor=${errors.page.next_cursor}`;
    }
  }

  private of(id: string): string[] {
    return [this.platform.organization_id, id];
  }

  private async read<T>(path: string): Promise<T> {
    return (await request(this.platform, 'GET', path)).body as T;
  }

  /** The same call with the same key until it is answered, whoever is killed meanwhile. */
  private steadily<T>(method: string, path: string, body: unknown): Promise<T> {
    const headers = { 'idempotency-key': randomUUID() };
    const call = async (): Promise<T> =>
      (await request(this.platform, method, path, body, { headers })).body as T;
    return this.until(call, `${method} ${path}`);
  }

  /** Asks again and again until there is an answer. @throws Error with the last failure after four minutes */
  private async until<T>(ask: () => Promise<T | undefined>, what: string): Promise<T> {
    const deadline = performance.now() + WITHIN_MS;
    let last = '';
    while (performance.now() < deadline) {
      try {
        const answer = await ask();
        if (answer !== undefined) return answer;
      } catch (error) {
        last = (error as Error).message;
      }
      await sleep(200);
    }
    throw new Error(`Not within four minutes: ${what}. ${last}`);
  }
}

/** Whether it was there still. */
function killed(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

function isBad(at: number): boolean {
  return at % BAD_EVERY === 7;
}

/** Numbers from 0 to 1 that follow from the seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
