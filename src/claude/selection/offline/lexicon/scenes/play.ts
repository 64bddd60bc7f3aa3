/** Games, pictures and sound; machines that learn. */
import type { Topics } from "../topics.ts";

export const PLAY_SCENES: Topics = {
  "enemies walking": `enemy, enemies, bad guys, monster, monsters, dragon, zombie, zombies, npc, npcs, mob, guard,
    guards, opponent, creature, pathfinding, path finding, navmesh, nav mesh, navagent, agents, waypoint, a-star,
    obstacle, obstacles, dynamic obstacles, wall edges, stuck on corners, get stuck, getting stuck, jam, walk into
    walls, walks into, strolls through, through walls, stupid, avoid obstacles, steering behaviour, behaviour tree,
    enemy ai, chase, chases, patrol, flocking, formation, aggro, line of sight, sees the player, notice the player`,
  "bodies colliding": `collision, collisions, collider, colliders, clip, clips, clipping, tunneling, tunnelling,
    through the wall, through the floor, falls through, fall through, inside geometry, geometry, raycast, rigidbody,
    physics, physics step, fixed timestep, continuous collision, ccd, hitbox, hitboxes, hit detection, bounce,
    ragdoll, box2d, physx, bullet physics, gravity, friction, static colliders, character controller, slide along,
    jitter, platforms, coyote time, jump`,
  "saved games": `save game, save games, savegame, save slot, save slots, slot, corrupt save, corrupts, save file,
    autosave, checkpoint, progress is lost, lost progress, cloud save, steam cloud, load game, playtime, play time,
    screenshot of the save, serialise world, alt-f4`,
  "hard or easy": `difficulty, difficulty level, too hard, too easy, balancing, balance of weapons, spawn, spawn rate,
    spawner, wave, waves, spawn_wave, enemy count, loot, drop rate, damage, hit points, health bar, boss, boss fight,
    weapon, weapons, sword, spell, spells, mana, armour, cooldown, level up, experience points, skill tree, economy of
    the game, coins, upgrade tree`,
  "playing together": `multiplayer, netcode, lag compensation, rubber banding, rubberband, rollback netcode, client
    prediction, server authoritative, tick rate, tickrate, ping, high ping, desync, matchmaking, lobby, dedicated
    server, shots hit, hit registration, around corners, interpolation, cheaters, anti-cheat, leaderboard,
    leaderboards, friend requests, party, eu servers, peeker, teleporting players`,
  "game shows": `unity, unreal, godot, bevy, pygame, monogame, gamemaker, sprite, sprites, tilemap, animation state,
    animator, cutscene, cutscenes, dialogue, dialogues, dialog tree, ink, quest, quests, inventory screen, minimap,
    hud, camera shake, rumble, controller rumble, achievements, steam, steam deck, nintendo switch, playstation, xbox,
    console port, level editor, level design, prefab, scene loading, loading screen, speedrun, puzzle, platformer,
    credits`,
  "board and card games": `chess, board game, card game, deck, dice, memory game, flip card, sudoku, crossword,
    scrabble, hand of cards, turn based, poker, solitaire, legal moves, checkmate`,
  "lips and sound": `lip sync, lips, voice, voices, sound is not in sync, out of sync, not in sync, audio video sync,
    a/v, a/v sync, a/v drift, drift, drift apart, drifts apart, pts, dts, timestamps, resync, audio clock, master
    clock, remux, remuxing, seek, seeking, after a jump, delay between, sound lags, audio delay, dubbing, long films,
    demux, playback speed, frame pts`,
  "video playing": `video, videos, film, films, movie, movies, stream, streaming, live stream, livestream, player,
    playback, buffering, buffers, stutters, viewers, spectators, hls, dash, m3u8, segments, rendition, renditions,
    bitrate, bitrates, adaptive, adaptive switching, abr, transcode, transcoding, encoder, ffmpeg, codec, h264, h265,
    hevc, av1, drm, widevine, subtitles, captions, keyframe, packager, cdn for video, slow connections, resolution
    switching, picture quality, thumbnails in the timeline, chapters, cutscene video, tv app, episode, season`,
  sounds: `audio, sound, sounds, music, song, songs, track, playlist, shuffle, mp3, flac, volume, mute, mixer,
    equalizer, synth, synthesizer, midi, daw, vst, latency of audio, crackling, clicks and pops, distortion, clipping
    audio, sample rate, resample, waveform, waveform rendering, podcast, podcasts, recording, recordings, microphone,
    noise suppression, reverb, metronome, tempo, alarm sound, ringtone, gapless`,
  "music notes": `score, sheet music, musicxml, key signature, time signature, transpose, transposing, transposing
    instruments, clef, notes, chord, chords, staff lines, instrument, instruments, bar lines, notation, guitar tabs,
    orchestra, choir`,
  "drawing in 3d": `shader, shaders, glsl, hlsl, wgsl, metal, vulkan, opengl, directx, webgl, webgpu, three.js,
    texture, textures, material, mesh, meshes, normal map, uv, water shader, shadow map, shadows, lighting, bloom,
    post-processing, ray tracing, draw calls, gpu, overdraw, frame rate, fps, culling, lod, level of detail,
    instancing, particles, particle effects, rain effect, fire effect, z-fighting, antialiasing, gltf, blender,
    rigging, skeleton, bones, skinning, ik, fk, blending, blend shapes, snail model, render pipeline, dark on metal,
    tone mapping, skybox`,
  "editing photos": `photo editor, crop, blur, blur filter, kernel size, gaussian, sharpen, histogram, raw import,
    raw, exposure, white balance, brush, layers, layer panel, mask, colour profile, icc, undo for crop, filter
    preview, convolution, resize, watermark, background removal, image editor, gimp, photoshop, layers panel`,
  cad: `cad, step file, extrude, constraint, sketch solver, boolean operation, nurbs, b-rep, mesh export, stl,
    tolerance, assembly, parametric, fillet, slicer`,
  "loading worlds": `loading screen, level loading, asset streaming, load times, texture streaming, asset bundle,
    addressables, open world, chunk loading, loading takes, hitch, hitches, shader compilation stutter, pop-in`,
  "game money": `microtransaction, loot box, in-game shop, coins, gems, premium currency, battle pass, refund coins,
    daily reward, season pass`,
  "seeing in the dark": `fog, fog.glsl, distant hills, fade into the sky, horizon, sky, skybox, ambient light,
    volumetric, draw distance, night level, too dark, god rays`,
  "characters moving": `character, walk cycle, animation blending, foot sliding, root motion, inverse kinematics,
    ragdoll, climbing, jumping, double jump, dash, ladder, swim, moving platforms, collision on moving platforms,
    weapon switch`,
  "text in games": `dialogue, subtitles, voice over, vo, speaker tags, localisation of dialogues, branching story,
    choices, narrative, yarn, ink script, lore, tutorial hints`,
  items: `inventory, stack, stacking, stack is full, potions, arrows, item slot, equip, drop item, chest, crafting,
    recipe, pickup, health pack, ammo, loses one item`,
  "blocky pictures": `blocky, pixelated video, lego, compression artefacts, macroblock, low bitrate, banding, keyframe
    interval, crf, quantizer, encoder settings, upscaling`,
  "music library": `album, artist, artists, metadata tags, id3, cover art, genre, library scan, scrobble, lyrics,
    queue songs, crossfade, same track twice, random order`,
  "words on pictures": `captions, subtitle, subtitles, srt, vtt, burn in, closed captions, caption timing, transcript,
    speech bubbles`,
  "drawing by hand": `canvas, stroke, strokes, brush, pen, stylus, pressure, eraser, whiteboard, undo removes two
    strokes, vector drawing, svg path, bezier, shapes tool, sketch`,
  "cheating players": `cheater, cheaters, anti-cheat, aimbot, speed hack, wall hack, server-side validation, ban wave,
    replay review, report player, exploit, item duplication, dupe glitch`,
  "handling feels bad": `controls, input lag, controller, deadzone, aim assist, camera, camera jitter, motion
    sickness, sensitivity, mouse look, button mapping, feels sluggish, responsive controls, vibration, steering wheel,
    drift of the stick`,
  "game economy numbers": `score, high score, highscore, leaderboard, ranks, ranking, elo, mmr, rating, daily
    challenge, streak, same player twice, achievements, trophies, experience`,
};

export const LEARNING_SCENES: Topics = {
  "learned by heart": `overfit, overfits, overfitting, falls apart, useless on new, useless once deployed, anything
    new, brilliant on our data, great on our data, great on training, memorises, memorizes, generalise, generalize,
    generalisation, dropout, regularisation, regularization, early stopping, weight decay, train/val gap, train val
    gap, validation loss, held-out, cross-validation, train/serve skew, training serving skew, distribution shift,
    data drift, concept drift, live auc, auc, validation auc, offline vs online, worse in production, unseen data,
    real world data, new data, model does great, leak, leaks the target, target leakage, data leakage`,
  "learning runs": `training, train, retrain, epoch, epochs, learning rate, loss, loss is nan, nan loss, exploding
    gradients, gradient, gradients, gradient clipping, batch size, optimizer, adam, scheduler, warmup, pytorch, torch,
    tensorflow, keras, jax, lightning, checkpoint, checkpoints, gpu, gpus, gpu quota, cuda, cuda out of memory,
    multi-gpu, ddp, mixed precision, fp16, bf16, hyperparameter, hyperparameters, optuna, wandb, mlflow, experiment
    tracking, seed, reproducible, conv layers, kernel size, convolution, network architecture, does not converge,
    fine-tune, fine-tuning, finetune, lora adapter`,
  "judging models": `accuracy, precision, recall, f1, auc, roc, confusion matrix, evaluation, eval set, benchmark,
    test set, metric, baseline, calibration, threshold, false positives, false negatives, ablation, human evaluation,
    gold standard, error analysis, misclassified`,
  "data to learn from": `dataset, datasets, dataset cards, labels, labelling, labeling, label tool, annotation,
    annotate, annotators, annotator, bounding boxes, class imbalance, imbalanced, rare class, oversampling,
    augmentation, augment, train split, outliers, feature engineering, feature, features, feature store, backfill
    features, holiday feature, synthetic data, deduplicate dataset, data loader, dataloader, hotkeys for annotators,
    crowdsourcing`,
  "models at work": `inference, serving, model server, triton, onnx, tensorrt, torchserve, quantisation, quantization,
    int8, distillation, batching requests, latency of the model, model registry, deploy model, prediction service,
    predictions, ml service, edge inference, coreml, tflite, sagemaker, vertex, azure machine learning, azure ml, aml
    workspace, aml, compute cluster, feature store, online features, same inputs`,
  "language machines": `llm, gpt, claude, openai, anthropic, gemini, llama, mistral, ollama, prompt, prompts, prompt
    template, system prompt, hallucinate, hallucinates, hallucination, invents, makes things up, made-up answers,
    context window, tokens, token count, count tokens, token limit, completion, completions, temperature, function
    calling, tool calling, agent, agents, rag, retrieval, embeddings, vector database, pinecone, qdrant, weaviate,
    pgvector, chunking, chunk size, cite sources, citations, langchain, guardrails, chatbot, assistant, copilot,
    agents.md, answers nonsense, streaming tokens, jailbreak, fine-tuned`,
  "text understanding": `nlp, sentiment, named entity, entity extraction, classifier, topic model, summarise,
    summarize, summarisation, language detection, spelling correction, spellchecker, spell checker, dictionary,
    stemmer, lemmatize, keyword extraction, ocr, handwriting, speech to text, speech recognition, whisper, transcript,
    transcription, text to speech, tts, translation model, tokenizer, subword, bpe`,
  "seeing machines": `computer vision, object detection, yolo, segmentation, image classification, opencv, camera
    calibration, pose estimation, face recognition, face detection, optical flow, tracking objects, licence plate,
    anpr, defect detection, keypoints, depth map, blurry images, image embeddings, microscopy`,
  "what to show next": `recommendation, recommendations, recommender, you may also like, similar items, related
    articles, collaborative filtering, matrix factorisation, cold start problem, personalise, personalised feed,
    ranking model, click-through, ctr, bandit, feed ranking, filter bubble, suggests the same`,
  "guessing the future": `forecast, forecasts, forecasting, demand, demand forecast, prediction, time series,
    seasonality, seasonal, holiday, public holiday, arima, prophet, anomaly, anomaly detection, outlier, trend, sales
    prediction, how much will we sell, order too much, mape, horizon`,
  "agents that try": `reinforcement learning, reward, policy gradient, ppo, dqn, environment, episode, exploration,
    replay buffer, self-play, actor critic, gym environment, curriculum`,
  "numbers and science": `simulation, monte carlo, finite element, fem, cfd, solver, differential equation, numerical,
    numerical stability, julia, matlab, numpy, scipy, pandas, notebook, notebooks, jupyter, r script, statistics,
    regression, confidence interval, p-value, bayesian, mcmc, matrix, sparse matrix, linear algebra, units conversion,
    unit conversion, plot`,
  biology: `genome, dna, rna, gene, sequencing, fasta, fastq, bam, vcf, variant calling, protein, protein folding,
    molecule, chemistry, reaction, compound, mass spectrometry, phylogenetic, crispr, cell culture, bioinformatics,
    alignment, reads, snakemake, nextflow`,
  weather: `weather, rain, forecast model, temperature map, wind, storm, radar image, climate, snow, netcdf, grib,
    flood, river level, avalanche, air quality, pollen, earthquake, tide`,
  "unfair models": `bias, fairness, unfair, discriminates, racist, women, protected attribute, demographic parity,
    explain decision, explainability, shap, lime, why was it denied, interpretability, black box, feature importance`,
  "idle graphics cards": `gpu idle, gpu utilisation, gpu sits idle, data loader, num_workers, prefetch, input
    pipeline, io bound training, pinned memory, webdataset, slow epochs, training is slow, waits for data`,
  "answers cut off": `max_tokens, max tokens, cut off mid-sentence, stops in the middle, truncated answer, context
    length, too long prompt, forgets what i said, conversation history, memory of the chat, summarise history, context
    overflow, sliding context`,
  "wrong citations": `citation, cites, sources, wrong source, grounded, grounding, retrieval, reranker, rerank, top k,
    chunk overlap, knowledge base, retrieved passages, semantic search, hybrid search, bm25, answers from documents,
    finds the wrong documents`,
  "cost of models": `token usage, token cost, cheaper model, prompt caching, caching answers, batch api, rate limit of
    openai, 429 from openai, model bill, routing models, smaller model`,
  "labels disagree": `inter-annotator, agreement, noisy labels, mislabeled, label errors, relabel, adjudication, gold
    labels, annotation guideline, cohen's kappa`,
  speech: `speech, spoken, dictation, voice recording, wer, accent, diarisation, speaker, asr, whisper, voice by,
    pronunciation, read aloud, voice grading`,
  "papers and plots": `notebook, jupyter, colab, figure, plots, matplotlib, seaborn, latex table, experiment results,
    ablation table, paper, reviewers`,
  "warm predictions": `cold start, new users, new items, popularity, default recommendation, exploration, stale
    embeddings, nightly retrain, embeddings refresh`,
  "too slow answers": `inference latency, slow predictions, model too slow, batch inference, gpu inference, kv cache,
    speculative decoding, vllm, throughput of the model, quantised, takes seconds to answer, streaming response`,
  "finding the same picture": `image similarity, duplicate images, perceptual hash, reverse image search, face match,
    near duplicates, embedding search, similar photos`,
  "reading documents": `ocr, invoice reading, document extraction, layout analysis, tesseract, textract, handwritten,
    scanned, scan quality, table extraction, form recognition, insurance cards, receipts scanning, deskew`,
};
