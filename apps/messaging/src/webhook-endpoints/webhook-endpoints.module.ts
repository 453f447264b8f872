import { Module } from '@nestjs/common';
import { retentionOf } from '@customer-platform/database';
import { Deliverer } from './deliveries/deliverer.js';
import { DeliveryOutcomes } from './deliveries/delivery-outcomes.js';
import { DeliveryQueue } from './deliveries/delivery-queue.js';
import { Randomness } from './deliveries/delivery-schedule.js';
import { DeliverySignal } from './deliveries/delivery-signal.js';
import { EndpointSwitch } from './deliveries/endpoint-switch.js';
import { ErasedDeliveries } from './deliveries/erased-deliveries.js';
import { MakerRights } from './deliveries/maker-rights.js';
import { OLD_DELIVERIES } from './deliveries/old-deliveries.js';
import { PausedDeliveries } from './deliveries/paused-deliveries.js';
import { WebhookEventsConsumer } from './deliveries/webhook-events.consumer.js';
import { WebhookEndpointsController } from './webhook-endpoints.controller.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';

/** Events out, to the organization's own servers. */
@Module({
  controllers: [WebhookEndpointsController, WebhookEventsConsumer],
  providers: [
    Deliverer,
    DeliveryOutcomes,
    DeliveryQueue,
    DeliverySignal,
    EndpointSwitch,
    ErasedDeliveries,
    MakerRights,
    PausedDeliveries,
    Randomness,
    WebhookEndpointsService,
    retentionOf(OLD_DELIVERIES),
  ],
  exports: [ErasedDeliveries],
})
export class WebhookEndpointsModule {}
