import { IsInt, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { IsUUID } from '@customer-platform/http';
import { LONGEST_HOLD_MS } from './reference-holds.js';

/** Body of `POST /internal/references`. */
export class ReferencesQuestionDto {
  @IsUUID()
  organization_id: string;

  @IsString()
  @MaxLength(100)
  @Matches(/^[a-z_]+\.[a-z_]+$/)
  resource: string;

  @IsUUID()
  id: string;

  @IsUUID()
  hold_id: string;

  @IsInt()
  @Min(1)
  @Max(LONGEST_HOLD_MS)
  hold_ms: number;
}

/** Body of `POST /internal/references/release`. */
export class ReleaseDto {
  @IsUUID()
  organization_id: string;

  @IsUUID()
  hold_id: string;
}
