import type { UserDto } from './user.dto.js';
import type { User } from './user.entity.js';

/** A user with what other tables know of them. */
export interface SeenUser {
  readonly user: User;
  readonly mfaEnabled: boolean;
}

export function toUserDto({ user, mfaEnabled }: SeenUser): UserDto {
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    locale: user.locale,
    status: user.status,
    email_verified: user.emailVerified,
    mfa_enabled: mfaEnabled,
    last_sign_in_at: user.lastSignInAt?.toISOString() ?? null,
    organization_id: user.organizationId,
    created_at: user.createdAt.toISOString(),
    updated_at: user.updatedAt.toISOString(),
    deleted_at: user.deletedAt?.toISOString() ?? null,
  };
}
