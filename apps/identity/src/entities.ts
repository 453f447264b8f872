import { Role } from './roles/role.entity.js';

/** The tables that are resources of the common administrative form. */
export const entities = [Role];
