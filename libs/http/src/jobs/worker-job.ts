import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { readConfig, serviceConfig } from '@customer-platform/config';
import { PollingJob, type PollingJobOptions } from './polling-job.js';

/** As of a {@link PollingJob}, whose pass is the class's own. */
export type WorkerJobOptions = Omit<PollingJobOptions, 'pass'>;

/** A provider with one job, which runs for as long as the application does, where PROCESS_ROLE is not api. */
export abstract class WorkerJob implements OnApplicationBootstrap, OnModuleDestroy {
  protected readonly job: PollingJob;

  constructor(options: WorkerJobOptions) {
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
    this.job.start();
  }

  /** As {@link PollingJobOptions.pass}. */
  protected abstract pass(): Promise<unknown>;
}
