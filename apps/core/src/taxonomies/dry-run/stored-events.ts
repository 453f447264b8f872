import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '@customer-platform/database';
import { yieldLoop, type RequestContext } from '@customer-platform/http';
import { PreviewSlots } from '../../previews/preview-slots.js';
import { ANSWER_MS, TimeLimit } from '../../previews/time-limit.js';
import type { CompiledSchema } from '../schemas/compile-schema.js';
import { TaxonomyCatalog } from '../taxonomy-catalog.js';
import type { JudgedEventDto, JudgementDto } from '../taxonomy.dto.js';
import type { Mode, Taxonomy } from '../taxonomy.js';
import { modeOf } from '../enforcing/enforcement.js';

/** Stored events of one name that are judged, newest first. */
const MOST_OF_A_NAME = 1_000;
/** Read at once: an event may have 32 KiB. */
const AT_ONCE = 200;
const MOST_SAMPLES = 5;
/** As long as judging may hold the event loop. */
const STEP_MS = 5;

const NEWEST = `
  SELECT id, occurred_at AS "occurredAt", payload FROM events
   WHERE organization_id = $1 AND event = $2 ORDER BY occurred_at DESC, id DESC LIMIT $3`;
const NEXT = `
  SELECT id, occurred_at AS "occurredAt", payload FROM events
   WHERE organization_id = $1 AND event = $2 AND (occurred_at, id) < ($4, $5::uuid)
   ORDER BY occurred_at DESC, id DESC LIMIT $3`;

interface StoredEvent {
  id: string;
  occurredAt: Date;
  payload: unknown;
}

/** What stored events would have come to under a taxonomy (core.md §8), as many as there is time for. */
@Injectable()
export class StoredEvents {
  constructor(
    private readonly database: Database,
    private readonly catalog: TaxonomyCatalog,
    private readonly slots: PreviewSlots,
  ) {}

  /** Takes two seconds at most. @throws Problem `rate_limited` while as many are worked on as may be */
  judge(
    context: RequestContext,
    taxonomy: Taxonomy,
    modes: { mode: Mode; overrides: Readonly<Record<string, Mode>> },
  ): Promise<JudgementDto> {
    return this.slots.hold(context, () =>
      this.database.inOrganization(context, async (tx) => {
        const limit = new TimeLimit(ANSWER_MS);
        const events: JudgedEventDto[] = [];
        let complete = true;
        for (const { name } of taxonomy.events) {
          const mode = modeOf(modes, name);
          const schema = this.catalog.schemaOf(taxonomy, name);
          if (mode === 'off' || !schema) continue;
          const judged: JudgedEventDto = { event: name, mode, judged: 0, violating: 0, samples: [] };
          complete = (await judgeName(tx, limit, schema, judged)) && complete;
          if (judged.judged > 0) events.push(judged);
        }
        const sum = (of: 'judged' | 'violating'): number =>
          events.reduce((total, event) => total + event[of], 0);
        return { judged: sum('judged'), violating: sum('violating'), complete, events };
      }),
    );
  }
}

/** Whether there was time for all of the name. */
async function judgeName(
  tx: Transaction,
  limit: TimeLimit,
  schema: CompiledSchema,
  judged: JudgedEventDto,
): Promise<boolean> {
  let last: StoredEvent | undefined;
  while (judged.judged < MOST_OF_A_NAME) {
    const after = last;
    const some = await limit.attempt(tx, (timed) => read(timed, judged.event, after));
    if (!some) return false;
    let since = performance.now();
    for (const event of some) {
      judgeOne(event, schema, judged);
      if (performance.now() - since < STEP_MS) continue;
      await yieldLoop();
      if (limit.over) return false;
      since = performance.now();
    }
    last = some.at(-1);
    if (some.length < AT_ONCE) return true;
  }
  return true;
}

function read(tx: Transaction, name: string, after: StoredEvent | undefined): Promise<StoredEvent[]> {
  const parameters = [tx.organizationId, name, AT_ONCE];
  if (!after) return tx.query<StoredEvent>(NEWEST, parameters);
  return tx.query<StoredEvent>(NEXT, [...parameters, after.occurredAt, after.id]);
}

function judgeOne(
  { id, occurredAt, payload }: StoredEvent,
  schema: CompiledSchema,
  judged: JudgedEventDto,
): void {
  judged.judged += 1;
  const broken = schema.violations(payload);
  if (broken.length === 0) return;
  judged.violating += 1;
  if (judged.samples.length === MOST_SAMPLES) return;
  const violations = broken.map(({ pointer, detail }) => ({ pointer, detail }));
  judged.samples.push({ event_id: id, occurred_at: occurredAt.toISOString(), violations });
}
