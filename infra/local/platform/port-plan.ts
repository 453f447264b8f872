import { PortChoice } from '@customer-platform/kit/ports.ts';
import type { DataFolder } from './data-folder.ts';
import { APPS, type AppName } from './modules.ts';

const PREFERRED = { gateway: 8080, mailPage: 8025, smtp: 1025 } as const;
type PreferredPort = keyof typeof PREFERRED;

/** Who listens where. */
export interface PortPlan {
  postgres: number;
  kafka: number;
  kafkaController: number;
  mailPage: number;
  smtp: number;
  /** To which mail returns that could not be delivered. */
  returnedMail: number;
  console: number;
  public: Record<AppName, number>;
  internal: Record<AppName, number>;
  /** Of core's worker. */
  worker: { public: number; internal: number };
}

/** A preferred port that another program has. */
export interface TakenPort {
  use: PreferredPort;
  preferred: number;
  taken: number;
}

const FILE = 'ports.json';

/**
 * The gateway and the mail catcher take their well-known ports or the next free ones; all others take the free ports
 * of the last start again, so that addresses in a client's configuration stay right.
 */
export async function planPorts(
  data: DataFolder,
  preferred: Partial<Record<PreferredPort, number>> = {},
): Promise<{ plan: PortPlan; taken: TakenPort[] }> {
  // One of a release before may name fewer.
  const last = data.readJson<Partial<PortPlan>>(FILE);
  const choice = new PortChoice();
  const taken: TakenPort[] = [];
  const prefer = async (use: PreferredPort): Promise<number> => {
    const wanted = preferred[use] ?? PREFERRED[use];
    const port = await choice.preferred(wanted);
    if (port !== wanted) taken.push({ use, preferred: wanted, taken: port });
    return port;
  };
  const gateway = await prefer('gateway');
  const plan: PortPlan = {
    mailPage: await prefer('mailPage'),
    smtp: await prefer('smtp'),
    returnedMail: await choice.free(last?.returnedMail),
    console: await choice.free(last?.console),
    postgres: await choice.free(last?.postgres),
    kafka: await choice.free(last?.kafka),
    kafkaController: await choice.free(last?.kafkaController),
    public: {} as PortPlan['public'],
    internal: {} as PortPlan['internal'],
    worker: {
      public: await choice.free(last?.worker?.public),
      internal: await choice.free(last?.worker?.internal),
    },
  };
  for (const app of APPS) {
    plan.public[app] = app === 'gateway' ? gateway : await choice.free(last?.public?.[app]);
    plan.internal[app] = await choice.free(last?.internal?.[app]);
  }
  data.writeJson(FILE, plan);
  return { plan, taken };
}
