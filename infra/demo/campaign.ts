import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@customer-platform/client';
import { type Platform, get, request } from '@customer-platform/kit/platform.ts';

const PEOPLE = 200;
const AT_ONCE = 8;
const WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 250;

const CAMPAIGNS = '/v1/messaging/campaigns';

interface ShownCampaign {
  state: string;
  last_run: { counts: Record<string, number> } | null;
}
interface ShownSends {
  data: { address: string | null; subject: string | null; state: string }[];
}

/** Where the demo is shown, and what it writes. */
interface CampaignDemo {
  readonly platform: Platform;
  readonly admin: Client;
  readonly run: string;
  readonly say: (line: string) => void;
}

/** Two hundred people on a list get an offer, one of whom wants no mail; what became of each is counted. */
export async function showCampaign(demo: CampaignDemo): Promise<void> {
  const { platform, admin, run, say } = demo;
  say(`\nA campaign to ${PEOPLE} people; introducing them`);
  const list = await aListOf(demo, await introduce(demo));
  const address = `campaign-${run}-1@example.com`;
  await admin.POST('/v1/messaging/suppressions', { body: { channel: 'email', address, reason: 'manual' } });
  const template = await admin.POST('/v1/messaging/templates', {
    body: {
      name: `Offer ${run}`,
      channel: 'email',
      default_locale: 'en',
      locales: {
        en: {
          subject: '{{ data.percent }} % off, {{ contact.first_name }}',
          html: '<p>Only this week, {{ contact.first_name }}.</p>',
        },
      },
    },
  });
  const made = await request(platform, 'POST', CAMPAIGNS, {
    name: `Offer ${run}`,
    channel: 'email',
    template_id: template.data.id,
    audience: { type: 'list', id: list },
    data: { percent: 20 },
  });
  const { id } = made.body as { id: string };
  const began = performance.now();
  await request(platform, 'POST', `${CAMPAIGNS}/${id}/run`);
  for (;;) {
    const now = await get<ShownCampaign>(platform, `${CAMPAIGNS}/${id}`);
    if (now.state === 'completed') {
      const counts = Object.entries(now.last_run?.counts ?? {}).filter(([, count]) => count > 0);
      const seconds = ((performance.now() - began) / 1_000).toFixed(1);
      say(`  ${counts.map(([what, count]) => `${count} ${what}`).join(', ')}, in ${seconds} s`);
      break;
    }
    if (performance.now() - began > WITHIN_MS) throw new Error('The campaign has not ended.');
    await sleep(LOOK_EVERY_MS);
  }
  const sends = await get<ShownSends>(platform, `/v1/messaging/sends?campaign_id=${id}&limit=2`);
  for (const { address: to, subject, state } of sends.data) say(`  ${to ?? ''}: ${subject ?? ''} (${state})`);
  say(`  all of them: ${platform.mail_url}`);
}

async function introduce({ admin, run }: CampaignDemo): Promise<string[]> {
  const ids: string[] = [];
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < PEOPLE) {
      const n = next++;
      const body = {
        external_id: `campaign-${run}-${n}`,
        email: `campaign-${run}-${n}@example.com`,
        first_name: `Reader ${n}`,
      };
      ids.push((await admin.POST('/v1/core/contacts', { body })).data.id);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  return ids;
}

async function aListOf({ admin, run }: CampaignDemo, contact_ids: string[]): Promise<string> {
  const { data: list } = await admin.POST('/v1/crm/lists', { body: { name: `Readers ${run}` } });
  await admin.POST('/v1/crm/lists/{id}/members', {
    params: { path: { id: list.id } },
    body: { contact_ids },
  });
  return list.id;
}
