import { Controller } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import { OnEvent } from '@customer-platform/event-bus';
import type { DomainEvent } from '@customer-platform/events';
import { routedEvent, ROUTED_TYPES, type RoutedType } from './routed-event.js';
import { Router } from './router.js';

/** Messaging learns of what happens in other modules from Kafka only (service.md, behaviour 3). */
@Controller()
export class RoutingConsumer {
  constructor(
    private readonly database: Database,
    private readonly router: Router,
  ) {}

  @OnEvent<RoutedType>(ROUTED_TYPES)
  async happened(events: DomainEvent<RoutedType>[]): Promise<void> {
    const routed = events.flatMap((event) => routedEvent(event) ?? []);
    if (routed.length > 0) await this.database.acrossOrganizations((tx) => this.router.route(tx, routed));
  }
}
