import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsString, Length, Matches, MaxLength } from 'class-validator';
import { IsUUID, MayBeAbsent } from '@customer-platform/http';

const TYPES = ['totp'] as const;
/** A replayed answer leaves it out. */
const ONCE = { required: false } as const;

/** What `POST /v1/identity/mfa/enroll` takes. */
export class EnrollDto {
  @IsIn(TYPES)
  type: 'totp';

  @ApiProperty({ example: 'Phone' })
  @IsString()
  @Length(1, 80)
  name: string;
}

/** A factor that waits for its first code. */
export class EnrolledFactorDto {
  @ApiProperty({ format: 'uuid' }) factor_id: string;
  @ApiProperty({
    ...ONCE,
    description: 'Base32, shown this once.',
    example: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  })
  secret: string;
  @ApiProperty({ ...ONCE, description: 'For a QR code, shown this once.' }) otpauth_uri: string;
}

/** What `POST /v1/identity/mfa/verify` takes: a factor's code, or a recovery code. */
export class VerifyDto {
  @MayBeAbsent()
  @IsUUID()
  factor_id?: string;

  @ApiProperty({ example: '492039' })
  @MayBeAbsent()
  @Matches(/^[0-9]{6}$/)
  code?: string;

  @ApiProperty({ example: '4F9A2C-0B3D5E-6G7H8J-9KMNPQ' })
  @MayBeAbsent()
  @IsString()
  @MaxLength(40)
  recovery_code?: string;
}

/** Recovery codes as they are shown once. */
export class RecoveryCodesDto {
  @ApiProperty({ ...ONCE, type: [String], description: 'Each works once; shown this once.' })
  recovery_codes: string[];
}

/** What a verified code has led to. */
export class VerifiedDto {
  @ApiProperty({ format: 'uuid', description: 'The session, which has a second factor now.' })
  session_id: string;
  @ApiProperty({
    type: 'string',
    format: 'uuid',
    nullable: true,
    description: 'The factor that the code confirmed.',
  })
  confirmed_factor_id: string | null;
  @ApiProperty({
    ...ONCE,
    type: [String],
    nullable: true,
    description: 'With the first factor, shown this once.',
  })
  recovery_codes: string[] | null;
  @ApiProperty() recovery_codes_left: number;
}

/** A factor of the caller. */
class FactorDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty({ enum: TYPES }) type: string;
  @ApiProperty() name: string;
  @ApiProperty({
    type: 'string',
    format: 'date-time',
    nullable: true,
    description: 'Null while it waits for a code.',
  })
  confirmed_at: string | null;
  @ApiProperty({ format: 'date-time' }) created_at: string;
}

/** The caller's factors. */
export class MfaDto {
  @ApiProperty({ type: [FactorDto] }) factors: FactorDto[];
  @ApiProperty() recovery_codes_left: number;
}
