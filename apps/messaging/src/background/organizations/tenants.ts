import { Tenants as TenantsOfRegistry } from '@customer-platform/authorization';

/** Messaging's name for the one that the process has. */
export class Tenants extends TenantsOfRegistry {}
