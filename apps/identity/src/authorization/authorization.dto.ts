import { Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsIn, IsString, Matches, MaxLength, ValidateNested } from 'class-validator';
import { AUTHORIZATION_BATCH, type Acceptance, type KeyUse } from '@customer-platform/authorization';
import { IsInstant, IsUUID, MayBeAbsent } from '@customer-platform/http';

const SHA_256 = /^[0-9a-f]{64}$/;

/** Body of `POST /internal/authz/resolve`. */
export class ResolveDto {
  @MayBeAbsent()
  @Matches(SHA_256)
  key_hash?: string;

  @MayBeAbsent()
  @IsUUID()
  organization_id?: string;

  @MayBeAbsent()
  @IsUUID()
  api_key_id?: string;

  @MayBeAbsent()
  @IsUUID()
  session_id?: string;

  @MayBeAbsent()
  @IsUUID()
  user_id?: string;

  @MayBeAbsent()
  @IsUUID()
  client_id?: string;

  @MayBeAbsent()
  @IsUUID()
  client_generation?: string;

  @MayBeAbsent()
  @IsIn(['api_key', 'oauth_client', 'user'])
  maker_type?: 'api_key' | 'oauth_client' | 'user';

  @MayBeAbsent()
  @IsUUID()
  maker_id?: string;
}

/** Query of `GET /internal/authz/changes`. */
export class ChangesQuery {
  @MayBeAbsent()
  @IsString()
  @MaxLength(100)
  cursor?: string;
}

/** One acceptance to be confirmed. */
class AcceptanceDto implements Acceptance {
  @Matches(SHA_256)
  key_hash: string;

  @IsInstant()
  accepted_at: string;

  @MayBeAbsent()
  @IsString()
  @MaxLength(100)
  permission?: string;
}

/** Body of `POST /internal/authz/confirm`. */
export class ConfirmDto {
  @IsArray()
  @ArrayMaxSize(AUTHORIZATION_BATCH)
  @ValidateNested({ each: true })
  @Type(() => AcceptanceDto)
  acceptances: AcceptanceDto[];
}

/** One key that was used. */
class KeyUseDto implements KeyUse {
  @IsUUID()
  organization_id: string;

  @IsUUID()
  key_id: string;

  @IsInstant()
  last_used_at: string;
}

/** Body of `POST /internal/authz/usage`. */
export class UsageDto {
  @IsArray()
  @ArrayMaxSize(AUTHORIZATION_BATCH)
  @ValidateNested({ each: true })
  @Type(() => KeyUseDto)
  uses: KeyUseDto[];
}
