import { Organization } from './organizations/organization.entity.js';
import { Role } from './roles/role.entity.js';

/** The tables that are resources of the common administrative form. */
export const entities = [Organization, Role];
