import { IsUUID } from '@customer-platform/http';

/** Body of `POST /internal/memberships/check` and `…/address`. */
export class MembershipQuestionDto {
  @IsUUID()
  organization_id: string;

  @IsUUID()
  user_id: string;
}

/** Whether a user belongs to an organization; `deleted`: they do, and are soft-deleted. */
export type MembershipState = 'member' | 'deleted' | 'none';
