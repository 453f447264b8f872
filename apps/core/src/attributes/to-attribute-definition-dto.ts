import type { AttributeDefinitionDto, ConversionDto, DeclarationDto } from './attribute-definition.dto.js';
import { declarationOf, type AttributeDefinition } from './attribute-definition.entity.js';
import type { ConversionRow } from './conversion/conversions.js';
import type { Declaration } from './declaration.js';

/** A definition with the conversion that runs because of it. */
export interface ShownDefinition {
  readonly definition: AttributeDefinition;
  readonly conversion: ConversionRow | undefined;
}

/** A definition as the API answers it. */
export function toAttributeDefinitionDto({
  definition,
  conversion,
}: ShownDefinition): AttributeDefinitionDto {
  const { id, key, label, memberVisible, createdAt, updatedAt, deletedAt } = definition;
  return {
    id,
    key,
    label,
    ...toDeclarationDto(declarationOf(definition)),
    member_visible: memberVisible,
    conversion: conversion ? toConversionDto(definition, conversion) : null,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
    deleted_at: deletedAt?.toISOString() ?? null,
  };
}

function toConversionDto(definition: AttributeDefinition, row: ConversionRow): ConversionDto {
  const { phase: state, on_failure, total, processed, converted, cleared, started_at } = row;
  return {
    state,
    to: toDeclarationDto(definition.next ?? declarationOf(definition)),
    on_failure,
    total,
    processed,
    converted,
    cleared,
    started_at: started_at.toISOString(),
  };
}

function toDeclarationDto({ type, enum: known, max_length, min, max }: Declaration): DeclarationDto {
  return { type, enum: known === null ? null : [...known], max_length, min, max };
}
