import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { idOfNew, listOf } from '@customer-platform/kit/list-audience.ts';
import { type Platform, get, request } from '@customer-platform/kit/platform.ts';
import type { HandOff } from '@customer-platform/kit/sink.ts';

const CAMPAIGNS = '/v1/messaging/campaigns';
const AGAIN_AFTER_MS = 500;
const ENDED_WITHIN_MS = 240_000;
/** Pauses and goes on, so that it lasts as long as the kills do. */
const RESTS_MS = 2_000;
const RUNS_MS = 3_000;

interface Shown {
  state: string;
  last_run: { counts: Record<string, number> } | null;
}

/** A campaign that runs, rests and goes on while processes die: nobody is left out, nobody is written to twice. */
export class TroubledCampaign {
  private stopping = false;
  private resting: Promise<void> = Promise.resolve();

  private readonly platform: Platform;
  private readonly id: string;
  private readonly addresses: readonly string[];

  private constructor(platform: Platform, id: string, addresses: readonly string[]) {
    this.platform = platform;
    this.id = id;
    this.addresses = addresses;
  }

  static async start(platform: Platform, people: number): Promise<TroubledCampaign> {
    const run = randomUUID().slice(0, 8);
    const addresses = Array.from({ length: people }, (_, n) => `troubled-${run}-${String(n)}@example.com`);
    const name = `Troubled ${run}`;
    const audience = { type: 'list', id: await listOf(platform, name, addresses) };
    const locales = { en: { subject: 'Hello', text: 'In spite of all.' } };
    const template = { name, channel: 'email', default_locale: 'en', locales };
    const template_id = await idOfNew(platform, '/v1/messaging/templates', template);
    const id = await idOfNew(platform, CAMPAIGNS, { name, channel: 'email', template_id, audience });
    await request(platform, 'POST', `${CAMPAIGNS}/${id}/run`);
    const campaign = new TroubledCampaign(platform, id, addresses);
    campaign.resting = campaign.restAndGoOn();
    return campaign;
  }

  /** Lets it come to its end. @returns what was lost and what was doubled */
  async finish(mails: readonly HandOff[]): Promise<{ lost: string[]; doubled: string[]; line: string }> {
    this.stopping = true;
    await this.resting;
    await this.answered('PATCH', { paused: false });
    const shown = await this.ended();
    const counts = shown.last_run?.counts ?? {};
    const { audience = 0, ...stands } = counts;
    const sum = Object.values(stands).reduce((total, count) => total + count, 0);
    const received = Map.groupBy(mails, ({ address }) => address);
    const missing = this.addresses.filter((address) => !received.has(address));
    const inDoubt = stands['unknown'] ?? 0;
    const told = Object.entries(counts).filter(([, count]) => count > 0);
    return {
      lost: [
        ...(sum === this.addresses.length && audience === sum
          ? []
          : [`campaign: ${String(sum)} of ${String(audience)} stand somewhere`]),
        ...(missing.length > inDoubt ? missing.map((address) => `campaign mail of ${address}`) : []),
      ],
      doubled: this.addresses.flatMap((address) => {
        const times = received.get(address)?.length ?? 0;
        return times > 1 ? [`campaign mail of ${address}: ${String(times)} times`] : [];
      }),
      line: `campaign ${shown.state}: ${told.map(([what, count]) => `${String(count)} ${what}`).join(', ')}`,
    };
  }

  private async restAndGoOn(): Promise<void> {
    for (let paused = true; !this.stopping; paused = !paused) {
      await pause(paused ? RUNS_MS : RESTS_MS);
      await this.answered('PATCH', { paused });
    }
  }

  private async ended(): Promise<Shown> {
    for (const deadline = Date.now() + ENDED_WITHIN_MS; ; await pause(AGAIN_AFTER_MS)) {
      const shown = await get<Shown>(this.platform, `${CAMPAIGNS}/${this.id}`).then(
        (found) => found,
        () => undefined,
      );
      if (shown && ['completed', 'canceled'].includes(shown.state)) return shown;
      if (Date.now() > deadline) return shown ?? { state: 'not answered', last_run: null };
    }
  }

  /** Again until somebody answers; what has ended can neither rest nor go on. */
  private async answered(method: string, body: object): Promise<void> {
    for (const deadline = Date.now() + ENDED_WITHIN_MS; Date.now() < deadline; await pause(AGAIN_AFTER_MS)) {
      const answer = await request(this.platform, method, `${CAMPAIGNS}/${this.id}`, body, {
        allow: [409],
      }).then(
        () => true,
        () => false,
      );
      if (answer) return;
    }
  }
}
