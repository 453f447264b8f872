import { itBehavesLikeASoftDeletableResource } from '@customer-platform/testing';
import { startResources, type ResourceApp } from '../resource-app.fixture.js';
import { anSsoConnection } from './sso-connection.fixture.js';

const CONNECTIONS = '/v1/identity/sso-connections';

describe('an SSO connection', () => {
  let resources: ResourceApp;
  beforeAll(async () => {
    resources = await startResources();
  });
  afterAll(() => resources.close());

  itBehavesLikeASoftDeletableResource({
    app: () => resources.app,
    path: CONNECTIONS,
    permissions: {
      read: 'identity.sso.read',
      create: 'identity.sso.create',
      update: 'identity.sso.update',
      delete: 'identity.sso.delete',
      purge: 'identity.sso.purge',
    },
    body: async (number, organizationId) => {
      await resources.found(organizationId);
      return anSsoConnection({ name: `Connection ${String(number)}` });
    },
    patch: (number) => ({ name: `Changed ${String(number)}` }),
  });
});
