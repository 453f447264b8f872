import { Injectable } from '@nestjs/common';
import { Clock } from '../clock.js';
import { Database } from '../database.js';
import { ChangeRecorder } from './change-recorder.js';
import type { ResourceDefinition, SoftDeletable } from './resource-definition.js';
import { ResourceStore } from './resource-store.js';

/** Makes the store that a service holds: `this.rules = stores.of<Rule>({ … })`. Provided by libs/audit's module. */
@Injectable()
export class ResourceStores {
  constructor(
    private readonly database: Database,
    private readonly recorder: ChangeRecorder,
    private readonly clock: Clock,
  ) {}

  /** A store for the resource. */
  of<E extends SoftDeletable>(definition: ResourceDefinition<E>): ResourceStore<E> {
    return new ResourceStore(this.database, this.recorder, this.clock, definition);
  }
}
