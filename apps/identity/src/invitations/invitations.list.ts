import type { ListDefinition } from '@customer-platform/http';
import { INVITATION_STATUSES } from './invitation.dto.js';

/** `GET /v1/identity/invitations` (identity.md §9). */
export const INVITATIONS_LIST: ListDefinition = {
  resource: 'identity.invitations',
  filters: {
    status: { type: 'enum', column: 'status', values: INVITATION_STATUSES },
    email: { type: 'string', column: 'email', description: 'In lower case.' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    expires_at: { type: 'time', column: 'expires_at' },
  },
  defaultSort: '-created_at',
};
