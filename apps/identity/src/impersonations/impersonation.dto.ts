import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsString, Length, Max, Min } from 'class-validator';
import { IsUUID, custom, MayBeAbsent } from '@customer-platform/http';

const SHORTEST = 10;
const LEAST_S = 60;
const MOST_S = 1_800;
const USUAL_S = 900;

/** Whoever looks into it later must learn something: blanks are no reason. */
function isSaid(value: unknown): boolean {
  return typeof value === 'string' && value.trim().length >= SHORTEST;
}

/** Body of `POST /v1/identity/impersonations`. */
export class StartImpersonationDto {
  @ApiProperty({ format: 'uuid', description: 'A member of the organization, and not oneself.' })
  @IsUUID()
  user_id: string;

  @ApiProperty({
    example: 'Ticket 4711: a campaign cannot be found.',
    description: 'Shown to the user, in the audit log and in the event.',
  })
  @IsString()
  @Length(SHORTEST, 500)
  @custom('isSaid', isSaid, {
    message: '$property must say something in 10 characters or more',
    context: { code: 'too_short' },
  })
  reason: string;

  @ApiProperty({ default: USUAL_S, description: 'Seconds until it ends by itself.' })
  @MayBeAbsent()
  @IsInt()
  @Min(LEAST_S)
  @Max(MOST_S)
  expires_in: number = USUAL_S;
}

/** An impersonation that has begun. */
export class ImpersonationDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty({ format: 'uuid', description: 'Who acts.' }) actor_id: string;
  @ApiProperty({ format: 'uuid', description: 'As whom.' }) user_id: string;
  @ApiProperty() reason: string;
  @ApiProperty({ format: 'date-time' }) expires_at: string;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({
    required: false,
    description: 'Good until the end, and not refreshed. Shown in this answer alone: a replay leaves it out.',
  })
  access_token?: string;
}
