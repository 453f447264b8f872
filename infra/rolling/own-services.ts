import { freePort } from '@customer-platform/kit/ports.ts';
import type { Platform as Access } from '@customer-platform/kit/platform.ts';
import { type Wiring, baseUrl, mailUrl } from '@customer-platform/local/platform/app-environment.ts';
import { build } from '@customer-platform/local/platform/build.ts';
import { DataFolder } from '@customer-platform/local/platform/data-folder.ts';
import { prepareDatabases } from '@customer-platform/local/platform/databases.ts';
import type { ModuleName } from '@customer-platform/local/platform/modules.ts';
import { readOptions } from '@customer-platform/local/platform/options.ts';
import { Platform } from '@customer-platform/local/platform/platform.ts';
import { planPorts } from '@customer-platform/local/platform/port-plan.ts';
import { Progress } from '@customer-platform/local/platform/progress.ts';
import { loadSecrets } from '@customer-platform/local/platform/secrets.ts';
import { seedDemo } from '@customer-platform/local/platform/seed.ts';
import { Guardian } from '@customer-platform/local/services/guardian.ts';

/** PostgreSQL, Kafka and a mail catcher as `npm start` has them, migrated, without the apps. */
export class OwnServices {
  readonly data: DataFolder;
  readonly guardian = new Guardian();
  private readonly say: (line: string) => void;
  private platform: Platform | undefined;

  constructor(folder: string, say: (line: string) => void) {
    this.data = new DataFolder(folder);
    this.say = say;
  }

  /** Where all of it listens, and where the apps are to be found. */
  get wiring(): Wiring {
    return this.started.wiring;
  }

  async start(): Promise<void> {
    const secrets = loadSecrets(this.data);
    // The well-known ports are left to the platform that a person starts meanwhile.
    const preferred = { gateway: await freePort(), mailPage: await freePort(), smtp: await freePort() };
    const { plan: ports } = await planPorts(this.data, preferred);
    const options = readOptions(['--data', this.data.path], {});
    this.platform = new Platform({
      data: this.data,
      options,
      secrets,
      ports,
      progress: new Progress(this.say),
    });
    const { platform } = this;
    const services = [platform.startPostgres(), platform.startKafka(), platform.startMailCatcher()];
    await Promise.all([...services, build()]);
    await prepareDatabases({ adminUrl: platform.adminUrl, embedded: true }, secrets, this.data);
  }

  /** Founds the demo organization by the running apps; the answer is what `npm start` writes down of it. */
  async seed(): Promise<Access> {
    const { ports, databases, brokers } = this.wiring;
    const target = { baseUrl: baseUrl(ports), identityDatabaseUrl: databases.identity.url };
    const demo = await seedDemo(target, undefined);
    return { ...demo, base_url: baseUrl(ports), mail_url: mailUrl(ports), kafka_brokers: brokers };
  }

  /** A module's database as the server's administrator, who sees every organization. */
  databaseUrl(module: ModuleName): string {
    const url = new URL(this.started.adminUrl);
    url.pathname = `/${module}`;
    return url.href;
  }

  async stop(): Promise<void> {
    await this.platform?.stop();
    await this.guardian.release();
  }

  private get started(): Platform {
    if (!this.platform) throw new Error('Nothing has been started.');
    return this.platform;
  }
}
