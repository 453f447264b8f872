import { itGoesOnBehindEveryEdge } from '@customer-platform/testing';
import { messagingWorld, type MessagingWorld } from './messaging.fixture.js';
import { MessagingModule } from './messaging.module.js';

let world: MessagingWorld;
afterAll(() => world.close());

itGoesOnBehindEveryEdge({
  module: 'messaging',
  root: MessagingModule,
  start: async () => (world = await messagingWorld()),
});
