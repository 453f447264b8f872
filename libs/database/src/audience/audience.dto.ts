import { IsInstant, IsUUID, MayBeAbsent } from '@customer-platform/http';
import { IsInt, Max, Min } from 'class-validator';

/** Members of one page, at most. */
const MOST_OF_A_PAGE = 5_000;

/** Body of `POST /internal/audience`. */
export class AudienceDto {
  @IsUUID()
  organization_id: string;

  @IsUUID()
  id: string;
}

/** Body of `POST /internal/audience/members`: those who were there at `until`, after the one that is named. */
export class AudienceMembersDto extends AudienceDto {
  @IsInstant()
  until: string;

  @MayBeAbsent()
  @IsInstant()
  after_at?: string;

  @MayBeAbsent()
  @IsUUID()
  after_id?: string;

  @IsInt()
  @Min(1)
  @Max(MOST_OF_A_PAGE)
  limit: number;
}
