import { Injectable } from '@nestjs/common';
import { Clock, Database, newId } from '@customer-platform/database';
import { log, Places, turns, type RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { GateForecast, type Forecast, type ForeseenSend } from '../../../dispatch/gate/gate-forecast.js';
import { waitAtMost } from '../../../background/jobs/wait-at-most.js';
import { Tenants } from '../../../background/organizations/tenants.js';
import { CAMPAIGN_LANE } from '../../../vocabulary/sends/send.js';
import { Audiences } from '../audiences.js';
import type { CampaignEntity } from '../campaign.entity.js';
import { CampaignsService, type RunnableCampaign } from '../campaigns.service.js';
import { KnownMembers, withoutRepeats, type ReachedMember, type Verdict } from '../runs/known-members.js';
import { askedFor, sortOut, type OpenMember } from '../runs/open-members.js';
import type { CampaignCheckDto } from './campaign-check.dto.js';
import { CheckTally } from './check-tally.js';
import { SampleMessage, type Sampled } from './sample-message.js';

/** Counting ends then, with what has been counted. */
const COUNTED_FOR_MS = 2_000;
/** A module that does not answer is waited for until after that. */
const PAGE_TIMEOUT_MS = 3_000;
/** Members of one piece, as of a run. */
const AT_ONCE = 500;
/** Core is asked between two of them, as by a run. */
const LOOKS = 3;
/** Checks at once on an instance. */
export const CHECKS_AT_ONCE = { inAll: 16, ofTenant: 4, ofOrganization: 2 };

/** One check, and what has been learnt on the way. */
interface Looking extends RunnableCampaign {
  readonly context: RequestContext;
  readonly tally: CheckTally;
  /** Those who would get the message so far, by their keys and by their ids. */
  readonly taken: Set<string>;
  readonly reached: Set<string>;
  /** The one whose message is shown: the first who is found to get it; undefined once there is none. */
  readonly first: PromiseWithResolvers<Sampled | undefined>;
}

/** A member whose verdict is known. */
interface Judged {
  readonly verdict: Verdict;
}

/** Members were judged, all but those who are left open; or core has to be asked before. */
type Piece =
  { readonly judged: readonly Judged[]; readonly left: number } | { readonly open: readonly OpenMember[] };

/**
 * Says what a run would come to, by what runs and the gate decide by: how many would get the message, how many not and
 * why, and how it looks for one of them (messaging.md §9). Changes nothing, and sends nothing.
 */
@Injectable()
export class CampaignCheck {
  private readonly places = new Places(CHECKS_AT_ONCE, tooMany);

  constructor(
    private readonly campaigns: CampaignsService,
    private readonly audiences: Audiences,
    private readonly known: KnownMembers,
    private readonly forecast: GateForecast,
    private readonly samples: SampleMessage,
    private readonly database: Database,
    private readonly tenants: Tenants,
    private readonly clock: Clock,
  ) {}

  /** @throws Problem `rate_limited`, `permission_denied`, `dependency_unavailable`, and as a run of it would now */
  async of(context: RequestContext, id: string): Promise<CampaignCheckDto> {
    this.tenants.learn(context.organization);
    const leave = this.places.take(context);
    const tally = new CheckTally();
    // Its place is taken for as long as something is still read.
    const { work } = await this.begin(context, id, tally, leave);
    try {
      await waitAtMost(COUNTED_FOR_MS, work);
      return tally.answer();
    } finally {
      tally.over = true;
    }
  }

  private async begin(
    context: RequestContext,
    id: string,
    tally: CheckTally,
    leave: () => void,
  ): Promise<{ work: Promise<void> }> {
    try {
      const runnable = await this.campaigns.runnable(context, id);
      const [taken, reached] = [new Set<string>(), new Set<string>()];
      const first = Promise.withResolvers<Sampled | undefined>();
      const work = this.look({ ...runnable, context, tally, taken, reached, first });
      return { work: work.finally(leave) };
    } catch (error) {
      leave();
      throw error;
    }
  }

  private async look(looking: Looking): Promise<void> {
    const counting = this.count(looking).finally(() => looking.first.resolve(undefined));
    const showing = this.show(looking).catch((error: unknown) => {
      looking.tally.over = true;
      throw error;
    });
    // Its place is given back once nothing of it reads any more.
    const ended = await Promise.allSettled([counting, showing]);
    const failed = ended.find((each) => each.status === 'rejected');
    if (failed) throw failed.reason;
    looking.tally.end();
  }

  private async count(looking: Looking): Promise<void> {
    const { campaign, context, tally } = looking;
    const audience = { type: campaign.audienceType, id: campaign.audienceId };
    const until = this.clock.now().toISOString();
    let after: { at: string; id: string } | undefined;
    do {
      const page = await this.audiences.members(
        context.organizationId,
        audience,
        { until, after },
        PAGE_TIMEOUT_MS,
      );
      // Deleted meanwhile: nobody is in it any more.
      if (!page) break;
      for (let from = 0; from < page.contactIds.length && !tally.over; from += AT_ONCE)
        await this.piece(looking, page.contactIds.slice(from, from + AT_ONCE));
      after = page.next;
    } while (after && !tally.over);
  }

  private async piece(looking: Looking, ids: readonly string[]): Promise<void> {
    const { campaign, version, tally } = looking;
    const { judged, open } = await this.judge(looking, ids);
    if (tally.over) return;
    for (let left = open; left > 0; left -= 1) tally.count({ kind: 'open' });
    const sends: ForeseenSend[] = [];
    for (const { verdict } of withoutRepeats(judged, looking.taken, looking.reached)) {
      if (typeof verdict === 'string') tally.exclude(verdict);
      else sends.push(asIfSent(campaign, version.version, verdict, this.clock.now()));
    }
    const forecasts = await this.forecast.of(sends);
    if (tally.over) return;
    for (const { id } of sends) {
      const forecast = forecasts.get(id) ?? { kind: 'open' };
      tally.count(forecast);
      if (isShowable(forecast)) looking.first.resolve(forecast);
    }
  }

  /** Judges members as a run would before the gate, and counts those of whom core has not said what has to be known. */
  private async judge(
    { campaign, context }: Looking,
    ids: readonly string[],
  ): Promise<{ judged: readonly Judged[]; open: number }> {
    const members = ids.map((id) => ({ id, contact_id: id }));
    const look = { asked: new Set<string>(), unreadable: new Set<string>() };
    const aim = { organizationId: context.organizationId, channel: campaign.channel };
    let isSilent = false;
    for await (const { isLast } of turns({ most: LOOKS })) {
      const piece = await this.database.inOrganization<Piece>(context, async (tx) => {
        const known = await this.known.of(tx, aim, ids);
        const { ready, open, unreadable } = sortOut(look, members, known);
        if (open.length > 0 && !isLast && !isSilent) return { open };
        const contacts = ready.flatMap((member) => known.contact(member.contact_id) ?? []);
        const held = await this.known.heldAmong(tx, contacts);
        const judged = ready.map(({ contact_id: id }) => ({
          verdict: this.known.judge(aim, known.contact(id), held, known),
        }));
        return { judged, left: open.length + unreadable.length };
      });
      if ('judged' in piece) return { judged: piece.judged, open: piece.left };
      try {
        for (const id of await this.known.ask(aim, piece.open)) look.unreadable.add(id);
        for (const { key, device } of piece.open) look.asked.add(askedFor(key, device));
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'dependency_unavailable') throw error;
        log.warn({ err: error }, 'Core does not answer; a check goes by the contacts that are known');
        isSilent = true;
      }
    }
    return { judged: [], open: ids.length };
  }

  /** Renders for one of them while the others are counted. */
  private async show({ context, campaign, tally, first }: Looking): Promise<void> {
    const sampled = await first.promise;
    if (sampled) tally.show(await this.samples.of(context, campaign, sampled));
    else tally.showNone();
  }
}

function isShowable(forecast: Forecast): forecast is Sampled {
  return forecast.kind === 'reached' && forecast.contact !== undefined;
}

/** Makes the send as a run would store it. */
function asIfSent(
  campaign: CampaignEntity,
  templateVersion: number,
  { contact, address }: ReachedMember,
  createdAt: Date,
): ForeseenSend {
  const { organizationId, id: campaignId, channel, category, topic, templateId, data } = campaign;
  const id = newId();
  return {
    organizationId,
    id,
    channel,
    category,
    topic,
    contactId: contact.id,
    recipient: { contact_id: contact.id },
    address,
    sender: null,
    lane: CAMPAIGN_LANE,
    // It is of no run that could be looked for.
    sourceId: null,
    runId: null,
    campaignId,
    templateId,
    templateVersion,
    locale: null,
    providerMessageId: null,
    attempts: 0,
    capCounted: false,
    metadata: null,
    correlationId: null,
    eventId: null,
    createdAt,
    waitingSince: null,
    expiresAt: null,
    claim: id,
    previous: 'accepted',
    data,
    event: null,
    content: null,
  };
}

function tooMany(scope: 'organization' | 'platform'): Problem {
  return new Problem('rate_limited', {
    detail: 'As many campaigns as may be are being checked; try again in 3 s.',
    headers: { 'Retry-After': '3' },
    members: { scope },
  });
}
