import { itBehavesLikeASoftDeletableResource } from '@customer-platform/testing';
import { startCoreWithPeers, type CoreWithPeers } from './contact.fixture.js';

let world: CoreWithPeers;
beforeAll(async () => {
  world = await startCoreWithPeers();
}, 60_000);
afterAll(() => world.close());

describe('/v1/core/contacts', () => {
  itBehavesLikeASoftDeletableResource({
    app: () => world.core.app,
    path: '/v1/core/contacts',
    permissions: {
      read: 'core.contacts.read',
      create: 'core.contacts.create',
      update: 'core.contacts.update',
      delete: 'core.contacts.delete',
      purge: 'core.contacts.purge',
    },
    body: (number) => ({ external_id: `person-${number}`, email: `person-${number}@example.com` }),
    patch: (number) => ({ first_name: `Ana ${number}`, attributes: { plan: number } }),
    unique: 'external_id',
  });
});
