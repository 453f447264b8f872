import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { readConfig, serviceConfig } from '@customer-platform/config';
import type { JobSignal } from './job-signal.js';
import { PollingJob, type PollingJobOptions } from './polling-job.js';

/** As of a {@link PollingJob}, whose pass is the class's own. */
export interface WorkerJobOptions extends Omit<PollingJobOptions, 'pass'> {
  /** What says that there is work; without it the job finds it when it looks. */
  readonly wokenBy?: JobSignal;
}

/** A provider with one job, which runs for as long as the application does, where PROCESS_ROLE is not api. */
export abstract class WorkerJob implements OnApplicationBootstrap, OnModuleDestroy {
  protected readonly job: PollingJob;

  private readonly wokenBy: JobSignal | undefined;

  constructor({ wokenBy, ...options }: WorkerJobOptions) {
    this.wokenBy = wokenBy;
    this.job = new PollingJob({ ...options, pass: () => this.pass() });
  }

  onApplicationBootstrap(): void {
    if (readConfig(serviceConfig).PROCESS_ROLE !== 'api') this.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.job.stop();
  }

  /** Once, where the job is to run; to be extended by what else begins then. */
  protected start(): void {
    this.wokenBy?.listen(() => this.job.wake());
    this.job.start();
  }

  /** As {@link PollingJobOptions.pass}. */
  protected abstract pass(): Promise<unknown>;
}
