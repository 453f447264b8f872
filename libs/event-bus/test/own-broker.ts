import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Child {
  readonly pid: number;
  readonly ended: Promise<unknown>;
}

interface Guardian {
  removeAtEnd(folder: string): void;
  release(): Promise<void>;
}

/** What is used of `infra/kit` and `infra/local/services`; loaded at run time, for its files name each other by `.ts`. */
interface Services {
  Guardian: new () => Guardian;
  cacheFolder(): string;
  freePort(): Promise<number>;
  startKafka(options: {
    folder: string;
    port: number;
    controllerPort: number;
    log: string;
    cache: string;
    guardian: Guardian;
    brief?: boolean;
    settings?: Record<string, string | number>;
    clusterId?: string;
    format?: string[];
  }): Promise<{ child: Child; broker: string }>;
}

const ROOT = new URL('../../../', import.meta.url);

async function services(): Promise<Services> {
  const load = async (name: string): Promise<object> =>
    (await import(new URL(`infra/${name}`, ROOT).href)) as object;
  const files = ['kit/cache.mjs', 'kit/ports.ts', 'local/services/guardian.ts', 'local/services/kafka.ts'];
  return Object.assign({}, ...(await Promise.all(files.map(load)))) as Services;
}

interface BrokerPlace {
  readonly port: number;
  readonly controllerPort: number;
  /** A third port, for a listener beside that of the platform. */
  readonly secondPort: number;
  readonly folder: string;
}

/** What a broker is started with beside its ports. */
interface BrokerSettings {
  settings?: (place: BrokerPlace) => Record<string, string | number>;
  format?: string[];
  joins?: OwnBroker;
}

/** A broker of one's own, to be killed, frozen and started again on the same port with the same data. */
export class OwnBroker {
  private child: Child | undefined;

  private constructor(
    private readonly from: Services,
    readonly folder: string,
    private readonly guardian: Guardian,
    readonly port: number,
    readonly controllerPort: number,
    readonly secondPort: number,
    private readonly given: BrokerSettings,
  ) {}

  /** Takes ports and a folder; nothing listens yet. */
  static async prepare(given: BrokerSettings = {}): Promise<OwnBroker> {
    const from = await services();
    const guardian = new from.Guardian();
    const folder = mkdtempSync(join(tmpdir(), 'own-broker-'));
    guardian.removeAtEnd(folder);
    const [port, controllerPort, secondPort] = [
      await from.freePort(),
      await from.freePort(),
      await from.freePort(),
    ];
    return new OwnBroker(from, folder, guardian, port, controllerPort, secondPort, given);
  }

  /** A second broker of the same cluster; the first, which must run, stays its controller. */
  static beside(first: OwnBroker): Promise<OwnBroker> {
    const settings = ({ port }: BrokerPlace): Record<string, string | number> => ({
      'process.roles': 'broker',
      'node.id': 2,
      listeners: `PLAINTEXT://127.0.0.1:${String(port)}`,
      'controller.quorum.voters': `1@127.0.0.1:${String(first.controllerPort)}`,
    });
    return OwnBroker.prepare({ settings, joins: first });
  }

  get address(): string {
    return `127.0.0.1:${String(this.port)}`;
  }

  async start(): Promise<void> {
    const { child } = await this.from.startKafka({
      folder: this.folder,
      port: this.port,
      controllerPort: this.controllerPort,
      brief: true,
      log: join(this.folder, 'broker.log'),
      cache: this.from.cacheFolder(),
      guardian: this.guardian,
      ...(this.given.settings ? { settings: this.given.settings(this) } : {}),
      ...(this.given.format ? { format: this.given.format } : {}),
      ...(this.given.joins ? { clusterId: this.given.joins.clusterId } : {}),
    });
    this.child = child;
  }

  private get clusterId(): string {
    const properties = readFileSync(join(this.folder, 'logs/meta.properties'), 'utf8');
    return /^cluster\.id=(.*)$/m.exec(properties)?.[1] ?? '';
  }

  /** kill -9. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.child?.ended;
  }

  /** Stops it from answering while its sockets stay open: what a frozen machine looks like. */
  freeze(): void {
    this.signal('SIGSTOP');
  }

  thaw(): void {
    this.signal('SIGCONT');
  }

  async remove(): Promise<void> {
    if (this.child) this.signal('SIGKILL');
    await this.child?.ended;
    await this.guardian.release();
  }

  private signal(signal: NodeJS.Signals): void {
    try {
      if (this.child) process.kill(this.child.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // it is gone already
    }
  }
}
