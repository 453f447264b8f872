import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, IsString, Length, MaxLength } from 'class-validator';
import { Controller, Module } from '@nestjs/common';
import {
  Body,
  Context,
  CreateEndpoint,
  Id,
  IsWithoutRepeats,
  MayBeAbsent,
  MayBeNull,
  openApiDocument,
  PatchOf,
  SameAs,
  UpdateEndpoint,
  type RequestContext,
  IsUUID,
} from '../index.js';
import { describeDtos } from './describe-dtos.js';

const COLORS = ['red', 'blue'] as const;

class CreateShirtDto {
  @IsUUID()
  owner_id: string;

  @ApiProperty({ description: 'Sewn in.', example: 'Ana' })
  @Length(1, 20)
  label: string;

  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @MaxLength(5)
  size?: string | null;

  @ApiProperty({ default: 'red' })
  @MayBeAbsent()
  @MayBeNull()
  @IsIn(COLORS)
  color?: (typeof COLORS)[number] | null;

  @ApiProperty({ type: [String], description: 'Of the wash.' })
  @IsArray()
  @ArrayMaxSize(3)
  @IsWithoutRepeats()
  @MaxLength(10, { each: true })
  marks: string[];
}

class UpdateShirtDto extends PatchOf(CreateShirtDto, { immutable: ['owner_id'] }) {
  @ApiProperty({ description: 'Sewn in anew.' })
  declare label?: string;
}

class ShirtDto {
  @ApiProperty() id: string;
  @SameAs(CreateShirtDto) label: string;
  @SameAs(CreateShirtDto, { description: 'As it was sold.' }) color: string | null;
}

@Controller('v1/crm/shirts')
class ShirtsController {
  @CreateEndpoint({ permission: 'crm.notes.create', summary: 'Sew a shirt', response: ShirtDto })
  create(@Context() _context: RequestContext, @Body() _body: CreateShirtDto): void {
    // described, never called
  }

  @UpdateEndpoint({ permission: 'crm.notes.update', summary: 'Change a shirt', response: ShirtDto })
  update(@Context() _context: RequestContext, @Id() _id: string, @Body() _body: UpdateShirtDto): void {
    // described, never called
  }
}

@Module({ controllers: [ShirtsController] })
class ShirtsModule {}

const TEXT = '^[^\\u0000]*$';

describe('the description of a DTO', () => {
  // Before the faulty classes below are declared: each of them lets every later document fail.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- JSON without a type
  let schemas: any;
  beforeAll(async () => {
    const document = await openApiDocument({ module: 'crm', root: ShirtsModule });
    schemas = (document as { components: { schemas: unknown } }).components.schemas;
  });

  it('completes what is said by bounds, null and absence of the validators, in the order of the class', () => {
    const { properties, required } = schemas.CreateShirtDto;
    expect(Object.keys(properties)).toEqual(['owner_id', 'label', 'size', 'color', 'marks']);
    expect(required).toEqual(['owner_id', 'label', 'marks']);
    expect(properties).toMatchObject({
      owner_id: { type: 'string', format: 'uuid' },
      label: { type: 'string', minLength: 1, maxLength: 20, description: 'Sewn in.', example: 'Ana' },
      size: { type: ['string', 'null'], maxLength: 5 },
      color: { type: ['string', 'null'], enum: ['red', 'blue', null], default: 'red' },
      marks: {
        type: 'array',
        maxItems: 3,
        uniqueItems: true,
        items: { type: 'string', maxLength: 10, pattern: TEXT },
        description: 'Of the wash.',
      },
    });
  });

  it('completes a patch that only says something else of a field', () => {
    const { properties, required } = schemas.UpdateShirtDto;
    expect(required).toBeUndefined();
    expect(Object.keys(properties).sort()).toEqual(['color', 'label', 'marks', 'size']);
    expect(properties.label).toMatchObject({ minLength: 1, maxLength: 20, description: 'Sewn in anew.' });
    expect(properties.color).toEqual({ type: ['string', 'null'], enum: ['red', 'blue', null] });
  });

  it('describes a field of an answer as the one of the body, always there and without its default', () => {
    const { properties, required } = schemas.ShirtDto;
    expect(required).toEqual(['id', 'label', 'color']);
    expect(properties.label).toEqual({
      type: 'string',
      minLength: 1,
      maxLength: 20,
      description: 'Sewn in.',
      example: 'Ana',
    });
    expect(properties.color).toEqual({
      type: ['string', 'null'],
      enum: ['red', 'blue', null],
      description: 'As it was sold.',
    });
    expect(() => SameAs(CreateShirtDto)(ShirtDto.prototype, 'price')).toThrow('no validated field price');
  });

  it('is refused where it repeats a bound of the validators', () => {
    class RepeatingDto {
      @ApiProperty({ maxLength: 20 })
      @Length(1, 20)
      name: string;

      @ApiProperty({ type: [String], maxItems: 3 })
      @IsArray()
      @ArrayMaxSize(3)
      marks: string[];
    }
    expect(RepeatingDto).toBeDefined();
    expect(describeDtos).toThrow('RepeatingDto.name: `maxLength` is written twice');
    expect(describeDtos).toThrow('RepeatingDto.marks: `maxItems` is written twice');
  });

  it('is refused where it says something else than the validators', () => {
    class ContradictingDto {
      @ApiProperty({ maxLength: 30 })
      @Length(1, 20)
      name: string;

      @ApiProperty({ enum: ['red', 'green'] })
      @IsIn(COLORS)
      color: string;

      @ApiPropertyOptional({ type: String, nullable: true })
      @IsString()
      size: string;
    }
    expect(ContradictingDto).toBeDefined();
    expect(describeDtos).toThrow('ContradictingDto.name: `maxLength` is 30, its validators take 20');
    expect(describeDtos).toThrow('ContradictingDto.color: `enum` is green,red, its validators take blue,red');
    expect(describeDtos).toThrow('ContradictingDto.size: its validators take no null');
    expect(describeDtos).toThrow('ContradictingDto.size: its validators require it');
  });
});
