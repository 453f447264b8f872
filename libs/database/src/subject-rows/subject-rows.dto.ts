import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsOptional,
  IsString,
  MaxLength,
} from 'class-validator';
import { IsUUID } from '@customer-platform/http';

/** More contacts than were ever merged into one. */
const MOST_CONTACTS = 10_000;
const LONGEST_PLACE = 4;

/** Body of `POST /internal/subject-rows`. */
export class SubjectRowsQuestionDto {
  @IsUUID()
  organization_id: string;

  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_CONTACTS)
  @IsUUID({ each: true })
  contact_ids: string[];

  @IsBoolean()
  portable: boolean;

  /** With the two below: the `next` of the page before. */
  @IsOptional()
  @IsString()
  @MaxLength(100)
  after_resource?: string;

  @IsOptional()
  @IsUUID()
  after_contact_id?: string;

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(LONGEST_PLACE)
  @IsString({ each: true })
  @MaxLength(1_000, { each: true })
  after_place?: string[];
}
