import { Module } from '@nestjs/common';
import { retentionOf, TenantTallies } from '@customer-platform/database';
import { MinuteCalls } from '../background/call-bounds/minute-calls.js';
import { PeopleModule } from '../people/people.module.js';
import { DeliveriesService } from './deliveries/deliveries.service.js';
import { Deliverer } from './deliveries/deliverer.js';
import { DeliveryOutcomes } from './deliveries/delivery-outcomes.js';
import { DeliveryQueue } from './deliveries/delivery-queue.js';
import { Randomness } from './deliveries/delivery-schedule.js';
import { DeliverySignal } from './deliveries/delivery-signal.js';
import { EndpointSwitch } from './deliveries/endpoint-switch.js';
import { EndpointTry } from './deliveries/endpoint-try.js';
import { ErasedDeliveries } from './deliveries/erased-deliveries.js';
import { OLD_BODIES, OLD_DELIVERIES } from './deliveries/old-deliveries.js';
import { PausedDeliveries } from './deliveries/paused-deliveries.js';
import { ReplayedDeliveries } from './deliveries/replayed-deliveries.js';
import { Sockets } from './deliveries/sockets.js';
import { WebhookDeliveriesController } from './deliveries/webhook-deliveries.controller.js';
import { WebhookEventsConsumer } from './deliveries/webhook-events.consumer.js';
import { EndpointTest } from './endpoint-test.service.js';
import { WebhookEndpointsController } from './webhook-endpoints.controller.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';

/** Events out, to the organization's own servers. */
@Module({
  imports: [PeopleModule],
  controllers: [WebhookEndpointsController, WebhookDeliveriesController, WebhookEventsConsumer],
  providers: [
    Deliverer,
    DeliveriesService,
    DeliveryOutcomes,
    DeliveryQueue,
    DeliverySignal,
    EndpointSwitch,
    EndpointTest,
    EndpointTry,
    ErasedDeliveries,
    MinuteCalls,
    TenantTallies,
    PausedDeliveries,
    Randomness,
    ReplayedDeliveries,
    Sockets,
    WebhookEndpointsService,
    retentionOf(OLD_DELIVERIES),
    retentionOf(OLD_BODIES),
  ],
  exports: [ErasedDeliveries],
})
export class WebhookEndpointsModule {}
