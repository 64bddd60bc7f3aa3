/** Compilers, operating systems, devices. */
import type { Topics } from "../topics.ts";

export const LANGUAGE_SCENES: Topics = {
  "useless work removed": `dead code elimination, dce, dead store, dead store elimination, dse, unused result, writes
    nobody reads, never read, side effects, side effect, unreachable code, remove unreachable, liveness analysis,
    optimizer, optimiser, optimization pass, optimisation pass, emit machine code, machine code`,
  "loops made faster": `licm, loop invariant, loop-invariant, hoist, hoisting, invariants, preheader, every iteration,
    recompute, recomputing, recomputes, subexpression, subexpressions, common subexpression, cse, gvn, constant
    folding, constant propagation, loop unrolling, vectorize, vectorise, strength reduction, alias, aliasing,
    inlining, inline, induction variable, optimizer, ssa, pass manager, generated code, machine code, generated
    machine code, compile time evaluation`,
  "code generation": `codegen, code generator, backend, llvm, cranelift, mlir, ir, mid-level ir, intermediate
    representation, basic block, phi, phi cycles, register allocation, registers, spilling, instruction selection,
    calling convention, abi, vtable, trait objects, object file, elf, linker, relocation, assembler, assembly, emit,
    target triple, x86, arm backend, riscv, lowering, stack frame, jit`,
  "compiler messages": `diagnostic, diagnostics, error message, source span, source spans, spans, which line, line
    number, line and column, tell the user, confusing error, cryptic, helpful, caret, hint, did you mean, panic,
    panics, dying, compiler dies, error recovery, unterminated string, unexpected token, points at, wrong line,
    ariadne, miette, squiggle, compiler should tell`,
  "reading source text": `lexer, tokenizer, tokeniser, scanner, token, tokens, nested comments, block comments,
    comment nesting, string literal, string literals, escape sequence, raw string, interpolation, whitespace,
    indentation sensitive, apostrophes, keyword, identifier rules, lookahead, number literal, unicode identifiers`,
  parsing: `parser, parse, parse error, grammar, ast, syntax tree, recursive descent, pratt, precedence, operator
    precedence, antlr, tree-sitter, yacc, bison, peg, left recursion, ambiguity, trailing comma, match arms,
    statement, expression, syntax, backtracking, parser combinator, nom`,
  types: `type inference, type checker, generics, default type arguments, type parameter, trait, traits, interface
    types, unification, hindley, borrow checker, lifetimes, ownership, variance, subtyping, union types, pattern
    matching, exhaustiveness, overload resolution, type arguments, monomorphization, type class, monad`,
  "running programs": `interpreter, bytecode, virtual machine, opcode, stack machine, garbage collector, closures,
    coroutine, repl, repl history, call stack, tail call, exceptions, runtime, native call, ffi, gil, sandbox,
    scripting language, lua, wasm, webassembly, embedding`,
  "editor support": `lsp, language server, autocomplete, completion, go to definition, hover, rename symbol, vscode,
    intellij, syntax highlighting, formatter, code action, inlay hints, semantic tokens, debugger, debug adapter,
    breakpoints, textmate grammar`,
  "command line": `cli, command line, terminal, shell, bash, zsh, fish, tab completion, shell completion, completion,
    flags, subcommand, exit code, stdin, stdout, pipe, ansi colours, progress bar, man page, cobra, clap, argparse,
    commander, powershell, interactive prompt, dotfiles, path expansion, glob`,
  "operating systems": `kernel, kernel panic, kernel module, linux kernel, yocto, device tree, dts, bsp, recipe,
    buildroot, driver, syscall, epoll, fork, iocp, io_uring, msvc, windows port, port to windows, cross-platform,
    posix, systemd, udev, udev rule, dmesg, page fault, scheduler, context switch, ebpf, filesystem, fuse, mount,
    permission denied, selinux, cgroup, namespace, boot, grub, initramfs`,
  algorithms: `algorithm, hash map, tree, b-tree, trie, heap, priority queue, graph search, dijkstra, a star, dynamic
    programming, recursion, sorting, binary search, bloom filter, interval tree, complexity, quadratic, linear
    programming, solver, simplex, constraint solver, warm start, shadow prices, milp, sat solver, heuristic, genetic
    algorithm, simulated annealing, timetabling, knapsack`,
  "slow compiler": `compiler is slow, quadratic, exponential, type check takes, big files, parallel compile,
    incremental, query system, memoize, arena allocation, interning, profile the compiler, compile speed`,
  "wrong code": `miscompile, miscompiles, wrong code, wrong result with optimisation, o2, undefined behaviour, ub,
    sanitizer, fuzzing, fuzz, csmith, differential testing, sign extension, integer overflow, shift, alias bug`,
  "names and scopes": `name resolution, scope, scoping, shadowing, hygiene, imports, module system, visibility, symbol
    table, forward reference, cyclic imports, namespace, closure capture`,
  macros: `macro, macros, macro expansion, preprocessor, template, metaprogramming, proc macro, compile-time,
    reflection, decorators, annotation processor, code generator`,
  "packages of a language": `package manager, registry, lockfile, version resolution, dependency solver, semver,
    workspace, publish, yanked, module proxy`,
  "escaped quotes": `escape, escaped, escaped quote, backslash, backslash sequences, quote, quotes, literal, literals,
    string literal, unescape, newline in string, heredoc, quoting`,
  "text matching": `regex, regular expression, catastrophic backtracking, redos, glob, wildcard, pattern, diff, fuzzy
    match, levenshtein, soundex, tokenise text, search and replace, template engine`,
};

export const DEVICE_SCENES: Topics = {
  "restarts by itself": `restarts by itself, reboots, reboot, rebooting, resets itself, reset, spontaneous reset,
    watchdog, wdt, watchdog reset, brownout, brown-out, hard fault, hardfault, stack overflow on the mcu, lockup,
    lock-up, bus lockup, i2c lockup, sda, sda recovery, power cycle, in the field, every few hours, freezes, hangs in
    the field, device restarts, stack canary, boot loop, bootloop`,
  "device updates": `firmware, firmware update, ota, over the air, over-the-air, bootloader, dfu, a/b slots, dual
    bank, flash, flashing, bricked, brick, half way, interrupted update, power cut, rollback image, signed image,
    mcuboot, delta update, crc check, crc, checksum, resume download, update fails, new version on devices, secure
    boot, incoming updates`,
  "buses and pins": `i2c, spi, uart, rs485, serial, serial port, can bus, canbus, usb, usb cdc, cdc class, enumerate,
    gpio, pwm, adc, dac, dma, interrupt, isr, irq, hal, callback, rx, tx, receive stops, baud, baud rate, ring buffer,
    peripheral, pin, pinout, rev c, pull-up, stm32, esp32, nrf52, arduino, raspberry pi, zephyr, freertos, rtos,
    hal_uart, low power mode, after sleep, wakeup pin, stop mode, deep sleep`,
  "battery packs": `battery, battery pack, bms, state of charge, soc, coulomb, coulomb counter, cell voltage,
    charging, charger, charge level, overcharge, charging report, percent, 112, past full, fuel gauge, capacity
    estimate, plug-in, discharge curve, ev, electric car, cell balancing, lipo, voltage, charge limit`,
  "using less power": `low power, deep sleep, sleep mode, sleep current, microamp, battery life, lasts only, runs
    empty, empty too soon, empty after, wake up, duty cycle, power consumption, current draw, standby, energy
    harvesting, tickless, radio off, batteries last`,
  sensors: `sensor, sensors, temperature, humidity, thermometer, offset, calibration, calibrate, drift, noise, filter,
    kalman, moving average, outlier, accelerometer, gyro, imu, lidar, radar, ultrasonic, pressure sensor, soil
    moisture, co2, light sensor, readings, jumps around, wrong temperature, too warm, degrees, sampling, spikes in the
    signal, smoothing`,
  radio: `bluetooth, ble, gatt, characteristic, characteristics, pairing, pair, bonding, advertising, wifi, wi-fi,
    wlan, zigbee, zwave, thread, matter, lora, lorawan, nb-iot, antenna, rssi, signal strength, range, connection
    drops, reconnect, mqtt, mqtt broker, coap, cbor, payload, gateway, provisioning, mesh network, downlink, uplink,
    nfc, rfid`,
  "homes and things": `smart home, home assistant, thermostat, heating, light switch, lamp, bulb, blinds, door lock,
    doorbell, relay, plug, socket outlet, hub, alexa, google home, homekit, scene, automation, presence detection,
    motion sensor, alarm system, garage door, humidity`,
  robots: `robot, robots, robot arm, gripper, ros, ros2, slam, localisation, odometry, path planning, motion planning,
    inverse kinematics, ik, joint, joints, servo, stepper, motor, motor control, pid, overshoot, oscillates, drone,
    quadcopter, autopilot, px4, quaternion, rotation, gimbal, attitude, trajectory, end effector, lawn mower, vacuum
    robot, conveyor, agv, cnc, g-code, 3d printer, extruder`,
  "plugged out": `hot-unplug, unplug, unplugged, pull the cable, pull the usb, disconnect, hotplug, hot plug, device
    removed, eject, surprise removal, null handle, mid-job, cable, usb cable, usb device, label printer, while it
    prints, card reader, udev, driver crashes, reconnect device`,
  displays: `display, oled, lcd, e-ink, epaper, backlight, brightness, lvgl, framebuffer, touch screen, touchscreen,
    segment display, led, leds, led strip, flicker, menu on the device, contrast setting, pixels`,
  space: `satellite, orbit, ground station, telemetry, downlink, cubesat, rocket, launch window, tle, attitude
    control, telescope, star tracker, doppler, spacecraft, observatory`,
  cars: `automotive, ecu, autosar, can frame, dashboard cluster, adas, lane keeping, brake, steering, airbag,
    infotainment, carplay, android auto, obd, uds, diagnostics session, tyre pressure, engine control, parking sensor,
    autonomous driving, lidar points`,
  "setting up devices": `provisioning, captive portal, wifi setup, wi-fi credentials, pairing mode, qr onboarding, ble
    provisioning, commissioning, factory reset, claim device, device registration, serial number, first setup`,
  "heating control": `heater, heating, thermostat, hysteresis, set temperature, never turns off, overshoots, boiler,
    valve actuator, room temperature, cooling, air conditioning, hvac, fan speed, minus 127 degrees, ds18b20, sensor
    fault value`,
  lights: `flicker, flickers, dimmer, dimming, pwm frequency, led driver, dmx, colour temperature, brightness curve,
    gamma table, light show`,
  "lost position": `odometry, wheel odometry, encoder, encoder ticks, yaw, heading, gyro, imu, ekf, kalman, fuse,
    sensor fusion, drifts off, gets lost, spins in circles, turns, position estimate, gps denied, magnetometer,
    disagree, loop closure`,
  "motor shakes": `vibration, oscillates, oscillation, shakes, pid, pid gains, tuning gains, windup, anti-windup,
    overshoot, stepper, microstepping, torque, current control, field oriented, stall, jerk, acceleration ramp, jerky`,
  "bytes swapped": `endianness, big endian, little endian, byte order, swapped bytes, register map, read_reg, bit
    field, two's complement, sign extension, sensor driver, datasheet, sht45, bme280, forced mode, scaling factor,
    humidity driver`,
  "data over the air": `telemetry, payload size, cbor, protobuf on device, message interval, airtime, lorawan payload,
    data plan, compress payload, downlink window, mqtt topic, qos, retained message, last will`,
  "voice at home": `wake word, voice assistant, does not hear, microphone gain, far field, noise, intent recognition,
    skill, alexa skill`,
  "frames on the wire": `can frame, can frames, frames corrupted, arrive corrupted, bit timing, 500 kbit, termination,
    error frames, arbitration, mcp2515, j1939, crc error, parity, framing error`,
  "timing on chips": `jitter, interrupt latency, real-time, priority inversion, rtos task, stack size, tick, timer
    overflow, 49 days, millis overflow, overflow after, counter wraps, scheduler tick, race with interrupt, volatile`,
  "wrong clock": `rtc, real time clock, clock drift, time is lost, after battery change, ntp on device, timestamps
    wrong, epoch 1970, 1970, drift per day`,
  "noise on the line": `emi, emc, interference, ground loop, debounce, bouncing, button bounce, contact bounce, noisy
    signal, spurious interrupt, glitch, filter capacitor, false triggers, triggers twice`,
  cameras: `ip camera, rtsp, onvif, cctv, motion detection, recording, night vision, doorbell camera, nvr, video
    surveillance, frame grabber`,
};
