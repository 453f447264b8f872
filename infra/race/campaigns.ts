import { setTimeout as pause } from 'node:timers/promises';
import { idOfNew, listOf } from '@customer-platform/kit/list-audience.ts';
import { type Platform, get, request } from '@customer-platform/kit/platform.ts';
import { addressOf, unlessBusy } from './ways.ts';

const CAMPAIGNS = '/v1/messaging/campaigns';
/** People of one campaign: it takes about a second, so that a pause meets it. */
const PEOPLE_EACH = 100;
/** When a campaign is paused or deleted, after it was run. */
const STOPPED_WITHIN_MS = 1_500;
const RESTS_MS = 3_000;
/** Of a campaign that is paused or deleted nothing may begin after its answer and this. */
const GRACE_MS = 1_000;

/** From when to when nothing of these mailboxes may leave. */
interface Stop {
  readonly addresses: ReadonlySet<string>;
  readonly what: 'paused' | 'canceled';
  readonly from: number;
  until: number;
}

interface OneCampaign {
  readonly id: string;
  readonly mailboxes: readonly string[];
}

/** Campaigns to the mailboxes, a hundred each; every mailbox is the contact of one. */
export class RacedCampaigns {
  readonly stops: Stop[] = [];
  /** Mailboxes of the campaigns that were run. */
  asked = 0;

  private readonly platform: Platform;
  private readonly campaigns: readonly OneCampaign[];

  private constructor(platform: Platform, campaigns: readonly OneCampaign[]) {
    this.platform = platform;
    this.campaigns = campaigns;
  }

  static async made(
    platform: Platform,
    { run, template, mailboxes }: { run: string; template: string; mailboxes: readonly string[] },
  ): Promise<RacedCampaigns> {
    const campaigns: OneCampaign[] = [];
    for (let from = 0; from < mailboxes.length; from += PEOPLE_EACH) {
      const some = mailboxes.slice(from, from + PEOPLE_EACH);
      const name = `Race ${run} ${String(from)}`;
      const addresses = some.map((mailbox) => addressOf(mailbox, 'campaign'));
      const list = await listOf(platform, name, addresses);
      const id = await idOfNew(platform, CAMPAIGNS, {
        name,
        channel: 'email',
        template_id: template,
        audience: { type: 'list', id: list },
        category: 'transactional',
      });
      campaigns.push({ id, mailboxes: some });
    }
    return new RacedCampaigns(platform, campaigns);
  }

  get count(): number {
    return this.campaigns.length;
  }

  /** Runs one; of three one is paused for a while in the middle, one is deleted. */
  async race(at: number): Promise<void> {
    const campaign = this.campaigns[at];
    if (!campaign) return;
    const { id, mailboxes } = campaign;
    this.asked += mailboxes.length;
    await this.call('POST', `${CAMPAIGNS}/${id}/run`);
    if (at % 3 === 2) return;
    await pause(Math.random() * STOPPED_WITHIN_MS);
    const addresses = new Set(mailboxes.map((mailbox) => addressOf(mailbox, 'campaign')));
    const stop = (what: Stop['what']): Stop => {
      const began = { addresses, what, from: performance.now() + GRACE_MS, until: Infinity };
      this.stops.push(began);
      return began;
    };
    if (at % 3 === 0) {
      await this.call('DELETE', `${CAMPAIGNS}/${id}`);
      stop('canceled');
      return;
    }
    const paused = await this.call('PATCH', `${CAMPAIGNS}/${id}`, { paused: true });
    // It may have been through already.
    if (paused !== 200) return;
    const resting = stop('paused');
    await pause(RESTS_MS);
    resting.until = performance.now();
    await this.call('PATCH', `${CAMPAIGNS}/${id}`, { paused: false });
  }

  /** Waits until all have ended, and takes them away. */
  async settled(within: number): Promise<void> {
    for (const deadline = Date.now() + within; ; await pause(500)) {
      const page = await get<{ data: unknown[] }>(
        this.platform,
        `${CAMPAIGNS}?state[in]=running,paused&limit=1`,
      );
      if (page.data.length === 0) return;
      if (Date.now() > deadline) throw new Error('Campaigns have come to no end.');
    }
  }

  /** A conflict is an answer: what has ended cannot be paused. */
  private async call(method: string, path: string, body?: object): Promise<number> {
    const { status } = await unlessBusy(() =>
      request(this.platform, method, path, body, { allow: [409, 503] }),
    );
    return status;
  }
}
