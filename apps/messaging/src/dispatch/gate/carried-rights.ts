import { Injectable } from '@nestjs/common';
import { Database, type WorkerTransaction } from '@customer-platform/database';

import type { SendingPlan } from '../../settings/channels/channel-plans.js';
import type { RoutableEvent } from '../../vocabulary/events/routed-event.js';
import {
  permissionsOfCampaign,
  permissionsOfRule,
  type AudienceType,
} from '../../vocabulary/makers/carried-permissions.js';
import type { MakerType } from '../../vocabulary/makers/maker.js';
import { MakerRights, type Carried, type Standing } from '../../background/makers/maker-rights.js';
import { isCanceled } from '../../vocabulary/sends/canceled-sends.js';
import type { ClaimedSend } from './claimed-send.js';

/** What a batch of sends is of, and who published the texts of them that the rules' makers have not seen. */
const SOURCES = `
  SELECT s.id, ${isCanceled('s')} AS called_off, r.event_type, r.maker_type, r.maker_id, r.maker_since,
         c.audience_type, c.maker_type AS campaign_maker_type,
         c.maker_id AS campaign_maker_id, c.maker_since AS campaign_maker_since, p.publisher_type, p.publisher_id
    FROM sends s
    LEFT JOIN event_routing r ON r.organization_id = s.organization_id AND r.id = s.source_id
    LEFT JOIN campaigns c ON c.organization_id = s.organization_id AND c.id = s.source_id
    LEFT JOIN template_publishers p ON p.organization_id = r.organization_id AND p.template_id = s.template_id
     AND p.version = s.template_version
     AND (r.template_id = s.template_id AND r.vouched_version >= s.template_version) IS NOT TRUE
   WHERE (s.organization_id, s.id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))`;

const KEEP_RULE = `
  UPDATE event_routing SET maker_since = now()
   WHERE organization_id = $1 AND id = $2 AND maker_type IS NOT NULL AND maker_since IS NULL`;

const KEEP_CAMPAIGN = `
  UPDATE campaigns SET maker_since = now()
   WHERE organization_id = $1 AND id = $2 AND maker_type IS NOT NULL AND maker_since IS NULL`;

const KEEP_CHANNELS = `
  UPDATE channel_settings SET maker_since = now()
   WHERE organization_id = $1 AND maker_type IS NOT NULL AND maker_since IS NULL`;

interface SourceRow {
  id: string;
  called_off: boolean;
  event_type: RoutableEvent | null;
  maker_type: MakerType | null;
  maker_id: string | null;
  maker_since: Date | null;
  audience_type: AudienceType | null;
  campaign_maker_type: MakerType | null;
  campaign_maker_id: string | null;
  campaign_maker_since: Date | null;
  publisher_type: MakerType | null;
  publisher_id: string | null;
}

/** What sends are of, as it was read. */
export interface SendSources {
  isCanceled(send: ClaimedSend): boolean;
  /** What the send carries out, if it is of something that does. */
  carried(send: ClaimedSend): Carried | undefined;
}

/** How things stand by their ids; none of what nobody made. */
export type Standings = ReadonlyMap<string, Standing | 'unknown'>;

/** What is judged, under which id, and where its maker stands. */
interface Judged {
  readonly id: string;
  readonly carried: Carried | undefined;
  readonly of: 'rule' | 'campaign' | 'channels';
  readonly place: readonly unknown[];
}

/** By whose rights sends leave that nobody asked for one by one (messaging.md §3). */
@Injectable()
export class CarriedRights {
  constructor(
    private readonly makers: MakerRights,
    private readonly database: Database,
  ) {}

  /** In the transaction that reads the facts of a batch. */
  async sources(tx: WorkerTransaction, sends: readonly ClaimedSend[]): Promise<SendSources> {
    const ofSources = sends.filter(({ sourceId }) => sourceId !== null);
    const rows =
      ofSources.length === 0
        ? []
        : await tx.prepared<SourceRow>(SOURCES, [
            ofSources.map(({ organizationId }) => organizationId),
            ofSources.map(({ id }) => id),
          ]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    return {
      isCanceled: ({ id }) => byId.get(id)?.called_off === true,
      carried: (send) => carriedBy(send, byId.get(send.id)),
    };
  }

  /**
   * Finds them by the ids of sends. Outside of any transaction: the registry may be asked.
   * @param keeps false: nothing is noted, where it is only asked what would be
   */
  standings(sends: readonly ClaimedSend[], sources: SendSources, keeps: boolean): Promise<Standings> {
    return this.judge(
      sends.map((send) => ({
        id: send.id,
        carried: sources.carried(send),
        of: send.runId === null ? 'rule' : 'campaign',
        place: [send.organizationId, send.sourceId],
      })),
      keeps,
    );
  }

  /** Of the organizations' channels, likewise. */
  ofChannels(plans: Iterable<SendingPlan>, keeps: boolean): Promise<Standings> {
    return this.judge(
      Array.from(plans, ({ organizationId: id, carried }) => ({
        id,
        carried,
        of: 'channels',
        place: [id],
      })),
      keeps,
    );
  }

  /** All at once: where the registry is silent, nobody waits for more than one answer. */
  private async judge(all: readonly Judged[], keeps: boolean): Promise<Standings> {
    const found = new Map<string, Standing | 'unknown'>();
    const kept = new Map<string, Judged>();
    const judgeOne = async (one: Judged): Promise<void> => {
      if (!one.carried) return;
      const standing = await this.makers.standing(one.carried);
      found.set(one.id, standing);
      if (standing === 'permitted' && one.carried.makerSince === null) kept.set(one.place.join(' '), one);
    };
    await Promise.all(all.map(judgeOne));
    if (keeps) for (const one of kept.values()) await this.keep(one);
    return found;
  }

  /** The maker who was found for what was there before is its maker for good, once that permitted something. */
  private async keep({ carried, of, place }: Judged): Promise<void> {
    if (!carried) return;
    await this.database.inOrganization(carried, async (tx) => {
      if (of === 'rule') await tx.query(KEEP_RULE, [...place]);
      else if (of === 'campaign') await tx.query(KEEP_CAMPAIGN, [...place]);
      else await tx.query(KEEP_CHANNELS, [...place]);
    });
  }
}

function carriedBy({ organizationId }: ClaimedSend, row: SourceRow | undefined): Carried | undefined {
  if (row?.audience_type) {
    return {
      organizationId,
      makerType: row.campaign_maker_type,
      makerId: row.campaign_maker_id,
      makerSince: row.campaign_maker_since,
      needed: permissionsOfCampaign(row.audience_type),
      publisher: null,
    };
  }
  if (!row?.event_type) return undefined;
  return {
    organizationId,
    makerType: row.maker_type,
    makerId: row.maker_id,
    makerSince: row.maker_since,
    needed: permissionsOfRule(row.event_type),
    publisher: { makerType: row.publisher_type, makerId: row.publisher_id },
  };
}
